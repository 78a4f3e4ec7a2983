#include "fabric/collective/busbw.hpp"

namespace fabricgate::fabric {

double all_reduce_busbw(std::uint64_t bytes, double elapsed_s, int ranks) {
  if (ranks < 2 || elapsed_s <= 0) return 0;
  return static_cast<double>(bytes) / elapsed_s * 2 * (ranks - 1) / ranks;
}

double busbw_bound(int nodes, int ranks_per_node, double node_bytes_per_s) {
  if (nodes < 2 || ranks_per_node < 1) return 0;
  const double n = static_cast<double>(nodes) * ranks_per_node;
  return node_bytes_per_s * nodes / (nodes - 1) * (n - 1) / n;
}

double ring_busbw_bound(int nodes, double node_bytes_per_s) {
  return nodes < 2 ? 0 : node_bytes_per_s;
}

}  // namespace fabricgate::fabric
