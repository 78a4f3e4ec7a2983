// busbw of AllReduce on host memory against the sum of the rails' rates.
//
//   all_reduce_rate RANKS MEGABYTES RAIL_MEGABYTES_PER_S [NETDEV,… [NAMESPACE_PREFIX]]
//
// Ranks are threads of this process; with a prefix rank i enters the network namespace PREFIXi (root only).
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "ci/bench/network_namespace.hpp"
#include "fabric/collective/all_reduce.hpp"
#include "fabric/collective/busbw.hpp"
#include "fabric/thread_rendezvous.hpp"

using namespace fabricgate;
using namespace fabricgate::fabric;

int main(int count, char** arguments) {
  const int ranks = count > 1 ? std::atoi(arguments[1]) : 2;
  const auto bytes = static_cast<std::uint64_t>(count > 2 ? std::atoi(arguments[2]) : 16) << 20;
  const double rail_rate = (count > 3 ? std::atof(arguments[3]) : 0) * 1e6;
  const std::string prefix = count > 5 ? arguments[5] : "";
  CollectiveOrder order;
  order.steps = {
      {64 << 10, Algorithm::recursive_doubling}, {bytes, Algorithm::recursive_doubling}, {bytes, Algorithm::ring}};
  for (int rank = 0; rank < ranks; ++rank) {
    order.ranks.push_back(rank);
    order.hosts.push_back(fmt::format("n{}", rank));
  }
  std::istringstream list(count > 4 ? arguments[4] : "lo");
  for (std::string netdev; std::getline(list, netdev, ',');) {
    order.rails.push_back({.name = netdev, .netdevs = std::vector<std::string>(order.ranks.size(), netdev)});
  }
  ThreadGroup group(ranks);
  CollectiveSample sample;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      if (!prefix.empty() && !enter_namespace(prefix + std::to_string(rank + 1))) std::perror("namespace");
      ThreadRendezvous rendezvous(group, rank);
      auto mine = run_all_reduce(rendezvous, order);
      if (rank == 0) sample = std::move(mine);
    });
  }
  for (auto& thread : threads) thread.join();
  const double bound = busbw_bound(ranks, 1, rail_rate * static_cast<double>(order.rails.size()));
  for (const auto& point : sample.points) {
    fmt::print("{:>10} bytes {:<18} {:.6f} s busbw {:.1f} MB/s", point.bytes, point.algorithm, point.elapsed_s,
               point.busbw_bytes_per_s / 1e6);
    if (bound > 0)
      fmt::print(", {:.1f} % of the bound {:.1f} MB/s", point.busbw_bytes_per_s / bound * 100, bound / 1e6);
    fmt::print("\n");
  }
  fmt::print("{} elements checked, {} wrong {} {}\n", sample.elements_checked, sample.elements_wrong,
             sample.first_wrong, sample.error);
  return sample.error.empty() && sample.elements_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
