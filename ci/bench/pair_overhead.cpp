// How much longer a round of the pair tier takes than the bare transfer of what it counted. Goal: at most 15 % at
// rounds of 1 s for a direction.
//
//   overhead      = time of the round / bare transfer - 1
//   time of the round: wall clock from the order being known to the last rank having its halves, so with everything:
//   opening
//                   contexts, exchange of addresses, connecting, latency, filling and checking payloads, small
//                   messages, warm-up, turning around, goodbye
//   bare transfer = bytes that entered a result (of every size, of both directions, one rail; warm-up only where it
//                   counts) / rate found with the largest size. What was streamed and not counted is overhead.
//
//   pair_overhead [RANKS [SECONDS [NETDEV,… [NAMESPACE_PREFIX [ADDRESS,ADDRESS]]]]]
//
// Ranks are threads of this process. Without a prefix all are on one interface (default lo); with a prefix rank i
// enters the network namespace PREFIXi (root only), with its own /sys, so that shaped rails can be measured:
// ci/bench/pair_overhead_shaped. The short connections of a round are dialled where the addresses of both ends are known.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "ci/bench/network_namespace.hpp"
#include "fabric/round/merge.hpp"
#include "fabric/round/run.hpp"
#include "fabric/thread_rendezvous.hpp"
#include "inventory/host/real_host.hpp"

using namespace fabricgate;
using namespace fabricgate::fabric;

namespace {

RoundOrder make_order(int ranks, double seconds, const std::string& netdevs, std::string addresses) {
  RoundOrder order;
  order.seconds = seconds;
  if (addresses.empty() && netdevs == "lo") addresses = "127.0.0.2,127.0.0.3";
  if (addresses.empty()) order.flows = 0;
  const std::size_t comma = std::min(addresses.find(','), addresses.size());
  const std::string a = addresses.substr(0, comma), b = addresses.substr(std::min(comma + 1, addresses.size()));
  for (int rank = 0; rank + 1 < ranks; rank += 2) {
    PairTask task{.a_rank = rank, .b_rank = rank + 1, .a = fmt::format("n{}", rank), .b = fmt::format("n{}", rank + 1)};
    std::istringstream list(netdevs);
    for (std::string netdev; std::getline(list, netdev, ',');) {
      task.rails.push_back({.name = netdev,
                            .a_netdev = netdev,
                            .a_address = a,
                            .b_netdev = netdev,
                            .b_address = b});
    }
    order.tasks.push_back(task);
  }
  return order;
}

double percent_over(double whole, double part) {
  return (whole / part - 1) * 100;
}

double moved_bytes(const DirectionSample& direction) {
  double bytes = 0;
  for (const auto& point : direction.sweep) bytes += static_cast<double>(point.messages * point.bytes);
  return bytes;
}

void print(const PairSample& sample) {
  const auto rate = [](const DirectionSample& direction) {
    return direction.sweep.empty() ? 0 : direction.sweep.back().bytes_per_s / 1e6;
  };
  fmt::print("{}-{} {}: {:.1f} / {:.1f} MB/s, half round trip p50 {:.1f} p99 {:.1f} us, {} checked, {} wrong{}{}{}\n",
             sample.a, sample.b, sample.rail, rate(sample.a_to_b), rate(sample.b_to_a), sample.latency_p50_s * 1e6,
             sample.latency_p99_s * 1e6, sample.a_to_b.payload_checked + sample.b_to_a.payload_checked,
             sample.a_to_b.payload_errors + sample.b_to_a.payload_errors, sample.error, sample.a_to_b.error,
             sample.b_to_a.error);
  for (const auto& point : sample.a_to_b.sweep) {
    fmt::print("    {:>8} bytes: {:.1f} MB/s, {} messages in {:.3f} s\n", point.bytes, point.bytes_per_s / 1e6,
               point.messages, point.elapsed_s);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int ranks = count > 1 ? std::atoi(arguments[1]) : 2;
  const double seconds = count > 2 ? std::atof(arguments[2]) : 1;
  const std::string netdevs = count > 3 ? arguments[3] : "lo", prefix = count > 4 ? arguments[4] : "";
  const auto order = make_order(ranks, seconds, netdevs, count > 5 ? arguments[5] : "");
  ThreadGroup group(ranks);
  std::vector<std::optional<std::string>> texts(static_cast<std::size_t>(ranks));
  std::vector<double> took(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      ThreadRendezvous rendezvous(group, rank);
      if (!prefix.empty() && !enter_namespace(prefix + std::to_string(rank + 1))) std::perror("namespace");
      if (!all_gather(rendezvous, "", Deadline::in_seconds(10))) return;
      const auto start = std::chrono::steady_clock::now();
      RealHost host;
      texts[index] = share_to_text(run_round(rendezvous, host, order));
      took[index] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
  }
  for (auto& thread : threads) thread.join();
  double longest = 0;
  for (const double one : took) longest = std::max(longest, one);
  const auto samples = merge_round(order, texts).pairs;
  for (const auto& sample : samples) print(sample);
  if (samples.empty() || samples[0].a_to_b.sweep.empty() || samples[0].b_to_a.sweep.empty()) return EXIT_FAILURE;
  const auto& first = samples[0];
  const double counted = moved_bytes(first.a_to_b) / first.a_to_b.sweep.back().bytes_per_s +
                         moved_bytes(first.b_to_a) / first.b_to_a.sweep.back().bytes_per_s;
  fmt::print(
      "round {:.3f} s (expected {:.3f} s), bare transfer of what counted {:.3f} s: {:.1f} % overhead (goal 15 %)\n",
      longest, expected_seconds(order), counted, percent_over(longest, counted));
  return EXIT_SUCCESS;
}
