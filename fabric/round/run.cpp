#include "fabric/round/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>

#include "fabric/round/measure.hpp"
#include "fabric/round/offer.hpp"
#include "fabric/round/pattern.hpp"
#include "fabric/round/rdma.hpp"
#include "fabric/round/task.hpp"
#include "fabric/tcp/flows.hpp"
#include "fabric/tcp/tcp_channel.hpp"
#include "fabric/ucx/ucx_rail.hpp"

namespace fabricgate::fabric {
namespace {

constexpr unsigned mark_a = 1, mark_b = 2, mark_a_back = 3, mark_b_back = 4;  // senders on a worker

struct Side {
  std::vector<std::unique_ptr<UcxRail>> rails;  ///< null where it could not be opened
  std::vector<Listener> flow_listeners;         ///< one per rail
  std::optional<Listener> listener;
  std::vector<Offer> offers;  ///< rails in order, then the overlay
};

/// The connections of all rails are open at once, which is more than the usual soft limit of 1024. Not raised to what is
/// allowed at most: programs that we start may close every number below their limit one by one.
void allow_sockets(const RoundTask& task) {
  constexpr rlim_t others = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, others + task.pair.rails.size() * (2 * task.order.flows + 1));
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // too few is an error of a socket, and told
}

void open_rail(const RoundTask& task, const RailEnds& ends, Side& side) {
  auto rail = UcxRail::open(task.is_a ? ends.a_netdev : ends.b_netdev);
  Offer offer = rail ? Offer{.address = (*rail)->address()} : Offer{.error = rail.error().what};
  side.rails.push_back(rail ? std::move(*rail) : nullptr);
  side.flow_listeners.emplace_back();
  if (offer.error.empty() && task.order.flows > 0) {
    auto listener = tcp_listen(task.is_a ? ends.a_address : ends.b_address);
    if (listener) side.flow_listeners.back() = std::move(*listener);
    if (!listener) offer.error = listener.error().what;
    offer.flow_port = side.flow_listeners.back().port;
  }
  side.offers.push_back(std::move(offer));
}

Side open_side(const RoundTask& task) {
  Side side;
  allow_sockets(task);
  for (const auto& ends : task.pair.rails) open_rail(task, ends, side);
  if (!task.pair.overlay) return side;
  if (task.is_a) {
    side.offers.push_back({.address = "connects"});
    return side;
  }
  auto listener = tcp_listen(task.pair.b_address);
  side.offers.push_back(listener ? Offer{.address = std::to_string(listener->port)}
                                 : Offer{.error = listener.error().what});
  if (listener) side.listener = std::move(*listener);
  return side;
}

PathSetup path_setup(const RoundTask& task, std::size_t index) {
  const bool overlay = index >= task.pair.rails.size();
  std::string path = "the management network", a_address = task.pair.a_address, b_address = task.pair.b_address;
  if (!overlay) {
    const auto& ends = task.pair.rails[index];
    path = fmt::format("{} ({} {} to {} {})", ends.name, task.pair.a, ends.a_netdev, task.pair.b, ends.b_netdev);
    a_address = ends.a_address;
    b_address = ends.b_address;
  }
  return {.order = task.order,
          .task = task.pair,
          .is_a = task.is_a,
          .seconds = overlay ? task.order.overlay_seconds : task.order.seconds,
          .path = path,
          .seed = mix(static_cast<std::uint64_t>(task.index)) + 16 * index,
          .hooks = task.hooks,
          .own_address = task.is_a ? a_address : b_address,
          .peer_address = task.is_a ? b_address : a_address};
}

void fail(PairSample& half, const std::string& host, const std::string& error) {
  half.error = error;
  half.error_host = host;
}

/// Why this end would not stream over a rail; empty: it would.
std::string closed_to_streams(const FlowsSeen& seen) {
  const FlowCount& own = seen.dialled;
  if (own.answered == 0 || seen.accepted == 0) return "connections of one end are not answered";
  return own.blocked == own.answered ? "no full-size segment passes on any connection" : "";
}

std::string try_flows(const RoundTask& task, const Side& side, const Offer& theirs, std::size_t index, PairSample& half) {
  if (task.order.flows == 0) return "";
  const PathSetup path = path_setup(task, index);
  const FlowsSetup setup{.own_address = path.own_address,
                         .peer_address = path.peer_address,
                         .peer_port = theirs.flow_port,
                         .count = task.order.flows,
                         .answer_s = task.order.connect_s};
  FlowsSeen seen = run_flows(side.flow_listeners[index], setup, task.deadline);
  if (task.hooks != nullptr && task.hooks->after_flows) task.hooks->after_flows(task.self(), half.rail, seen.dialled);
  const std::string closed = closed_to_streams(seen);
  (task.is_a ? half.flows_a_to_b : half.flows_b_to_a) = std::move(seen.dialled);
  return closed;
}

/// The thread of one rail.
void stream_rail(const RoundTask& task, Side& side, const Offer& theirs, std::size_t index, PairSample& half) {
  PathSetup setup = path_setup(task, index);
  UcxRail& rail = *side.rails[index];
  const std::string& peer_address = theirs.address;
  auto channel = rail.connect(peer_address, task.is_a ? mark_a : mark_b, task.is_a ? mark_b : mark_a);
  if (!channel) return fail(half, task.self(), channel.error().what);
  std::unique_ptr<UcxChannel> back;
  if (task.order.both_seconds > 0) {
    auto second =
        rail.connect(peer_address, task.is_a ? mark_a_back : mark_b_back, task.is_a ? mark_b_back : mark_a_back);
    if (!second) return fail(half, task.self(), second.error().what);
    back = std::move(*second);
    setup.back = back.get();
  }
  measure_path(**channel, setup, half, task.deadline);
}

void run_overlay(const RoundTask& task, const Side& side, const Offer& theirs, PairSample& half) {
  const auto limit = task.deadline.at_most(task.order.connect_s);
  auto socket = task.is_a
                    ? tcp_connect(task.pair.a_address, task.pair.b_address, std::atoi(theirs.address.c_str()), limit)
                    : tcp_accept(*side.listener, task.pair.a_address, limit);
  if (!socket) return fail(half, task.self(), socket.error().what);
  TcpChannel channel(std::move(*socket));
  measure_path(channel, path_setup(task, task.pair.rails.size()), half, task.deadline);
}

/// One thread per rail without an error: a rail that stands still must not slow the others.
void on_each_rail(const RoundTask& task, std::vector<PairSample>& halves, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < task.pair.rails.size(); ++index) {
    if (!halves[index].error.empty() || !halves[index].a_to_b.error.empty()) continue;
    const auto guarded = [&task, &halves, &work, index] {
      try {
        work(index);
      } catch (const std::exception& problem) {
        fail(halves[index], task.self(), problem.what());
      }
    };
    try {
      threads.emplace_back(guarded);
    } catch (const std::exception& problem) {
      fail(halves[index], task.self(), fmt::format("starting a thread: {}", problem.what()));
    }
  }
  for (auto& thread : threads) thread.join();
}

std::vector<PairSample> empty_halves(const RoundTask& task) {
  std::vector<PairSample> halves;
  PairSample half{.a = task.pair.a, .b = task.pair.b, .engine = "ucx-tcp", .mode = task.pair.mode};
  half.concurrent_pairs = static_cast<double>(task.order.tasks.size());
  for (const auto& rail : task.pair.rails) {
    half.rail = rail.name;
    halves.push_back(half);
  }
  half.rail.clear();
  half.engine = "tcp";
  if (task.pair.overlay) halves.push_back(half);
  return halves;
}

/// Errors of opening, of either end, into the halves.
void spread_errors(const RoundTask& task, const Side& side, const std::vector<Offer>& theirs,
                   std::vector<PairSample>& halves) {
  for (std::size_t index = 0; index < halves.size(); ++index) {
    const auto& mine = side.offers[index].error;
    if (!mine.empty()) fail(halves[index], task.self(), mine);
    if (theirs[index].error.empty()) continue;
    fail(halves[index], mine.empty() ? task.peer() : "",
         mine.empty() ? theirs[index].error
                      : fmt::format("{}: {}; {}: {}", task.self(), mine, task.peer(), theirs[index].error));
  }
}

/// Leaves the time of what comes after the rails, which must not look silent because of them.
Deadline rails_deadline(const RoundTask& task) {
  const double left = task.deadline.left_s();
  const double later = task.order.connect_s + 2 * task.order.overlay_seconds + 2 * task.order.rdma_seconds;
  return task.deadline.at_most(std::max(left - later, left / 2));
}

/// The ends leave a step at different times where one waited for what the other did not miss. Met again, neither takes
/// that for the other's silence in the next step.
Result<std::vector<Offer>> meet(Rendezvous& rendezvous, const RoundTask& on_rails, const std::vector<Offer>& mine) {
  const auto limit = Deadline::in_seconds(on_rails.deadline.left_s() + on_rails.order.connect_s / 2);
  auto answer = rendezvous.exchange(on_rails.peer_rank(), on_rails.index, pack(mine), limit);
  return answer ? unpack(*answer, mine.size()) : Result<std::vector<Offer>>(answer.error());
}

/// A rail over which one end would not stream is not streamed over, by either.
Status agree_on_rails(Rendezvous& rendezvous, const RoundTask& task, const std::vector<Offer>& mine,
                      std::vector<PairSample>& halves) {
  auto theirs = meet(rendezvous, task, mine);
  if (!theirs) return theirs.error();
  for (std::size_t index = 0; index < mine.size(); ++index) {
    const std::string& why = mine[index].error.empty() ? (*theirs)[index].error : mine[index].error;
    auto& half = halves[index];
    if (half.error.empty() && !why.empty()) half.a_to_b.error = half.b_to_a.error = "not streamed over, because " + why;
  }
  return {};
}

/// First many short connections over each.
Status run_rails(Rendezvous& rendezvous, const RoundTask& task, Side& side, const std::vector<Offer>& theirs,
                 std::vector<PairSample>& halves) {
  std::vector<Offer> closed(task.pair.rails.size());
  on_each_rail(task, halves, [&](std::size_t index) {
    closed[index].error = try_flows(task, side, theirs[index], index, halves[index]);
  });
  for (std::size_t index = 0; index < closed.size(); ++index)
    if (!halves[index].error.empty()) closed[index].error = halves[index].error;
  if (auto agreed = agree_on_rails(rendezvous, task, closed, halves); !agreed) return agreed;
  on_each_rail(task, halves, [&](std::size_t index) { stream_rail(task, side, theirs[index], index, halves[index]); });
  auto met = meet(rendezvous, task, {});
  return met ? Status() : Status(met.error());
}

bool tried(const DirectionSample& direction) { return !direction.error.empty() || direction.received_bytes > 0; }

/// What was streamed, or not for a reason, is kept.
void fail_unmeasured(const RoundTask& task, const std::string& error, std::vector<PairSample>& halves) {
  for (auto& half : halves)
    if (half.error.empty() && !tried(half.a_to_b) && !tried(half.b_to_a)) fail(half, task.self(), error);
}

/// Everything one pair measures, in this order at both ends. RDMA comes last: where its ends lose one another, nothing
/// that comes after has to bring them together again.
RoundShare run_task(Rendezvous& rendezvous, Host& host, const RoundTask& task) {
  RoundShare share{.halves = empty_halves(task), .rdma = {}};
  auto& halves = share.halves;
  Side side = open_side(task);
  const auto limit = task.deadline.at_most(task.order.connect_s);
  auto answer = rendezvous.exchange(task.peer_rank(), task.index, pack(side.offers), limit);
  auto theirs = answer ? unpack(*answer, side.offers.size()) : Result<std::vector<Offer>>(answer.error());
  if (!theirs) {
    fail_unmeasured(task, fmt::format("{} did not tell its addresses: {}", task.peer(), theirs.error().what), halves);
    return share;
  }
  spread_errors(task, side, *theirs, halves);
  RoundTask on_rails = task;
  on_rails.deadline = rails_deadline(task);
  if (auto met = run_rails(rendezvous, on_rails, side, *theirs, halves); !met) {
    fail_unmeasured(task, fmt::format("{} was not through with the rails in time: {}", task.peer(), met.error().what), halves);
  } else if (task.pair.overlay && halves.back().error.empty()) {
    run_overlay(task, side, theirs->back(), halves.back());
  }
  share.rdma = run_rdma(rendezvous, host, task);
  return share;
}

}  // namespace

RoundShare run_round(Rendezvous& rendezvous, Host& host, const RoundOrder& order, const RoundHooks* hooks) {
  const auto deadline = Deadline::in_seconds(order.deadline_s);
  RoundShare all;
  for (std::size_t index = 0; index < order.tasks.size(); ++index) {
    const auto& pair = order.tasks[index];
    const int rank = rendezvous.rank();
    if (rank != pair.a_rank && rank != pair.b_rank) continue;
    RoundShare share = run_task(rendezvous, host,
                                {.order = order,
                                 .pair = pair,
                                 .index = static_cast<int>(index),
                                 .is_a = rank == pair.a_rank,
                                 .deadline = deadline,
                                 .hooks = hooks});
    std::move(share.halves.begin(), share.halves.end(), std::back_inserter(all.halves));
    std::move(share.rdma.begin(), share.rdma.end(), std::back_inserter(all.rdma));
  }
  return all;
}

}  // namespace fabricgate::fabric
