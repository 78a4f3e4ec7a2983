#pragma once
/// Arithmetic of AllReduce, our own (factors as in nccl-tests).
#include <cstdint>

namespace fabricgate::fabric {

/// bytes / elapsed × 2(n−1)/n; 0 for fewer than two ranks or no time.
double all_reduce_busbw(std::uint64_t bytes, double elapsed_s, int ranks);

/// Upper bound of busbw for any algorithm without reduction in the network: each node must move 2(N−1)/N of the data
/// out, so busbw ≤ B × N/(N−1) × (n−1)/n with N nodes, n = N × ranks_per_node ranks and B = `node_bytes_per_s`, the sum
/// of a node's rails in one direction. 0 for fewer than two nodes.
double busbw_bound(int nodes, int ranks_per_node, double node_bytes_per_s);

/// The same for a flat ring, which sends 2(n−1)/n of the data over each link: B.
double ring_busbw_bound(int nodes, double node_bytes_per_s);

}  // namespace fabricgate::fabric
