#include "fabric/round/rdma.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "fabric/relay.hpp"
#include "fabric/verbs/rail_port.hpp"
#include "fabric/verbs/run.hpp"

namespace fabricgate::fabric {
namespace {

/// What is under way fills a link for so long: longer than a round trip through any fabric, and short enough that a
/// slow one (soft RDMA) is soon empty again.
constexpr double under_way_s = 0.005;
constexpr std::uint64_t least_depth = 2, most_depth = 64;
/// 0.27 s for an acknowledgement, 1.9 s with all repetitions, which a stall must outlast.
constexpr int acknowledged_by = 16;

std::uint32_t host_order(const std::string& address) {
  in_addr parsed{};
  return ::inet_pton(AF_INET, address.c_str(), &parsed) == 1 ? ntohl(parsed.s_addr) : 0;
}

/// Reads the whole GID table, one file for each entry.
VerbsPath path_of(Host& host, const RoundTask& task, const RailEnds& rail) {
  VerbsPath path{.a = task.pair.a,
                 .b = task.pair.b,
                 .rail = rail.name,
                 .is_a = task.is_a,
                 .peer_rank = task.peer_rank(),
                 .port = {},
                 .no_port = {}};
  const RailNames names{.names = {.device = task.is_a ? rail.a_device : rail.b_device,
                                  .netdev = task.is_a ? rail.a_netdev : rail.b_netdev,
                                  .pci = ""},
                        .address = host_order(task.is_a ? rail.a_address : rail.b_address)};
  path.no_port = choose_port(host, names, path.port);
  return path;
}

/// A Host is used by one thread at a time.
struct SharedHost {
  Host& host;
  std::mutex mutex = {};
};

VerbsSample measure(Rendezvous& meet, SharedHost& shared, const RoundTask& task, const RailEnds& rail) {
  try {
    std::unique_lock lock(shared.mutex);
    const VerbsPath path = path_of(shared.host, task, rail);
    lock.unlock();
    return run_verbs(meet, path, rdma_plan(task.order, rail), task.deadline);
  } catch (const std::exception& problem) {
    return {.a = task.pair.a,
            .b = task.pair.b,
            .rail = rail.name,
            .failure = {.host = task.self(), .cause = "rdma.call_failed", .what = problem.what()}};
  }
}

}  // namespace

VerbsPlan rdma_plan(const RoundOrder& order, const RailEnds& rail) {
  const double fitting = rail.rate_bytes_per_s * under_way_s / static_cast<double>(rdma_bytes);
  const auto depth = static_cast<std::uint64_t>(
      std::clamp(fitting, static_cast<double>(least_depth), static_cast<double>(most_depth)));
  return {.steps = {{.bytes = rdma_bytes, .seconds = order.rdma_seconds, .margin_s = rdma_margin_s},
                    {.latency = true, .bytes = rdma_latency_bytes, .messages = order.rdma_round_trips}},
          .depth = depth,
          .moderation = std::max<std::uint64_t>(1, depth / 4),
          .cycle_bytes = depth * rdma_bytes,
          .timeout = acknowledged_by,
          .stall_s = order.stall_s};
}

std::vector<VerbsSample> run_rdma(Rendezvous& rendezvous, Host& host, const RoundTask& task) {
  std::vector<const RailEnds*> rails;
  for (const auto& rail : task.pair.rails)
    if (rail.has_rdma()) rails.push_back(&rail);
  if (rails.empty()) return {};
  SharedHost shared{host};
  std::vector<VerbsSample> samples(rails.size());
  Relay relay(rendezvous, task.peer_rank(), task.index, static_cast<int>(rails.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    samples[i] = {.a = task.pair.a, .b = task.pair.b, .rail = rails[i]->name};
    try {
      threads.emplace_back([&, i] {
        RelayLane meet(relay, static_cast<int>(i));
        samples[i] = measure(meet, shared, task, *rails[i]);
      });
    } catch (const std::exception& problem) {
      relay.close(static_cast<int>(i));
      samples[i].failure = {.host = task.self(),
                            .cause = "rdma.call_failed",
                            .what = fmt::format("starting a thread: {}", problem.what())};
    }
  }
  (void)relay.carry(task.order.stall_s, task.deadline);  // that the peer is silent is told by the samples
  for (auto& thread : threads) thread.join();
  for (auto& sample : samples) {
    sample.mode = task.pair.mode;
    sample.concurrent_pairs = static_cast<double>(task.order.tasks.size());
  }
  return samples;
}

}  // namespace fabricgate::fabric
