#include "fabric/round/run.hpp"

#include <fmt/format.h>

#include <exception>
#include <thread>

#include "fabric/round/measure.hpp"
#include "fabric/round/pattern.hpp"
#include "fabric/tcp/tcp_channel.hpp"
#include "fabric/ucx/ucx_rail.hpp"

namespace fabricgate::fabric {
namespace {

constexpr unsigned mark_a = 1, mark_b = 2, mark_a_back = 3, mark_b_back = 4;  // senders on a worker

struct Task {
  const RoundOrder& order;
  const PairTask& pair;
  int index = 0;
  bool is_a = true;
  Deadline deadline;
  const RoundHooks* hooks = nullptr;

  const std::string& self() const { return is_a ? pair.a : pair.b; }
  const std::string& peer() const { return is_a ? pair.b : pair.a; }
  int peer_rank() const { return is_a ? pair.b_rank : pair.a_rank; }
};

/// What one end tells the other of one rail or of the overlay: how to reach it, or why not.
struct Offer {
  std::string address;  ///< worker address, or the port
  std::string error;
};

struct Side {
  std::vector<std::unique_ptr<UcxRail>> rails;  ///< null where it could not be opened
  std::optional<Listener> listener;
  std::vector<Offer> offers;  ///< rails in order, then the overlay
};

Side open_side(const Task& task) {
  Side side;
  for (const auto& ends : task.pair.rails) {
    auto rail = UcxRail::open(task.is_a ? ends.a_netdev : ends.b_netdev);
    side.offers.push_back(rail ? Offer{.address = (*rail)->address()} : Offer{.error = rail.error().what});
    side.rails.push_back(rail ? std::move(*rail) : nullptr);
  }
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

std::string pack(const std::vector<Offer>& offers) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& offer : offers) {
    const std::vector<std::uint8_t> bytes(offer.address.begin(), offer.address.end());
    list.push_back({{"address", nlohmann::json::binary(bytes)}, {"error", offer.error}});
  }
  const auto packed = nlohmann::json::to_cbor(list);
  return std::string(packed.begin(), packed.end());
}

Result<std::vector<Offer>> unpack(const std::string& text, std::size_t expected) {
  const auto list = nlohmann::json::from_cbor(text, true, false);
  if (!list.is_array() || list.size() != expected) return Error{ErrorKind::parse, "offer of the peer: not as expected"};
  std::vector<Offer> offers;
  for (const auto& entry : list) {
    if (!entry.is_object() || !entry.contains("address") || !entry["address"].is_binary() || !entry.contains("error") ||
        !entry["error"].is_string()) {
      return Error{ErrorKind::parse, "offer of the peer: an entry is not as expected"};
    }
    const auto& bytes = entry["address"].get_binary();
    offers.push_back({.address = std::string(bytes.begin(), bytes.end()), .error = entry["error"].get<std::string>()});
  }
  return offers;
}

PathSetup path_setup(const Task& task, std::size_t index) {
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

void run_rail(const Task& task, UcxRail& rail, const std::string& peer_address, std::size_t index, PairSample& half) {
  auto channel = rail.connect(peer_address, task.is_a ? mark_a : mark_b, task.is_a ? mark_b : mark_a);
  if (!channel) return fail(half, task.self(), channel.error().what);
  PathSetup setup = path_setup(task, index);
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

void run_overlay(const Task& task, const Side& side, const Offer& theirs, PairSample& half) {
  const auto limit = task.deadline.at_most(task.order.connect_s);
  auto socket = task.is_a
                    ? tcp_connect(task.pair.a_address, task.pair.b_address, std::atoi(theirs.address.c_str()), limit)
                    : tcp_accept(*side.listener, task.pair.a_address, limit);
  if (!socket) return fail(half, task.self(), socket.error().what);
  TcpChannel channel(std::move(*socket));
  measure_path(channel, path_setup(task, task.pair.rails.size()), half, task.deadline);
}

/// One thread per rail: a rail that stands still must not slow the others.
void run_rails(const Task& task, Side& side, const std::vector<Offer>& theirs, std::vector<PairSample>& halves) {
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < side.rails.size(); ++index) {
    if (!halves[index].error.empty()) continue;
    const auto work = [&task, &side, &theirs, &halves, index] {
      try {
        run_rail(task, *side.rails[index], theirs[index].address, index, halves[index]);
      } catch (const std::exception& problem) {
        fail(halves[index], task.self(), problem.what());
      }
    };
    try {
      threads.emplace_back(work);
    } catch (const std::exception& problem) {
      fail(halves[index], task.self(), fmt::format("starting a thread: {}", problem.what()));
    }
  }
  for (auto& thread : threads) thread.join();
}

std::vector<PairSample> empty_halves(const Task& task) {
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
void spread_errors(const Task& task, const Side& side, const std::vector<Offer>& theirs,
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

std::vector<PairSample> run_task(Rendezvous& rendezvous, const Task& task) {
  auto halves = empty_halves(task);
  Side side = open_side(task);
  const auto limit = task.deadline.at_most(task.order.connect_s);
  auto answer = rendezvous.exchange(task.peer_rank(), task.index, pack(side.offers), limit);
  auto theirs = answer ? unpack(*answer, side.offers.size()) : Result<std::vector<Offer>>(answer.error());
  if (!theirs) {
    for (auto& half : halves) {
      fail(half, task.self(), fmt::format("{} did not tell its addresses: {}", task.peer(), theirs.error().what));
    }
    return halves;
  }
  spread_errors(task, side, *theirs, halves);
  run_rails(task, side, *theirs, halves);
  if (task.pair.overlay && halves.back().error.empty()) run_overlay(task, side, theirs->back(), halves.back());
  return halves;
}

}  // namespace

std::vector<PairSample> run_round(Rendezvous& rendezvous, const RoundOrder& order, const RoundHooks* hooks) {
  const auto deadline = Deadline::in_seconds(order.deadline_s);
  std::vector<PairSample> all;
  for (std::size_t index = 0; index < order.tasks.size(); ++index) {
    const auto& pair = order.tasks[index];
    const int rank = rendezvous.rank();
    if (rank != pair.a_rank && rank != pair.b_rank) continue;
    const Task task{.order = order,
                    .pair = pair,
                    .index = static_cast<int>(index),
                    .is_a = rank == pair.a_rank,
                    .deadline = deadline,
                    .hooks = hooks};
    for (auto& half : run_task(rendezvous, task)) all.push_back(std::move(half));
  }
  return all;
}

}  // namespace fabricgate::fabric
