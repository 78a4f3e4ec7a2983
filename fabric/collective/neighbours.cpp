#include "fabric/collective/neighbours.hpp"

#include <fmt/format.h>

#include <set>

#include "fabric/wait.hpp"

namespace fabricgate::fabric {
namespace {

constexpr Patience patience{.spin_s = 50e-6, .sleep_s = 0.02};

}  // namespace

Doubling::Doubling(int participants) {
  while ((2 << rounds) <= participants) ++rounds;
  extra = participants - (1 << rounds);
}

int Doubling::number(int self) const {
  if (!folds(self)) return self - extra;
  return self % 2 == 0 ? -1 : self / 2;
}

std::vector<int> neighbours_of(int self, int participants) {
  std::set<int> peers = {(self + 1) % participants, (self + participants - 1) % participants};
  const Doubling doubling(participants);
  if (doubling.folds(self)) peers.insert(self ^ 1);
  for (int round = 0; round < doubling.rounds && doubling.number(self) >= 0; ++round) {
    peers.insert(doubling.partner(self, round));
  }
  peers.erase(self);
  return {peers.begin(), peers.end()};
}

Result<std::unique_ptr<Neighbours>> Neighbours::connect(UcxRail& rail, Setup setup, Deadline deadline) {
  std::unique_ptr<Neighbours> made(new Neighbours(std::move(setup), deadline));
  const auto& own = made->setup_;
  for (const int peer : neighbours_of(own.self, made->size())) {
    // 1 + number, so that no mark is 0
    auto channel = rail.connect(own.addresses[static_cast<std::size_t>(peer)], static_cast<unsigned>(own.self) + 1,
                                static_cast<unsigned>(peer) + 1);
    if (!channel) {
      return channel.error().with(fmt::format("to {} over {}", own.hosts[static_cast<std::size_t>(peer)], own.rail));
    }
    made->channels_[peer] = std::move(*channel);
  }
  return made;
}

Status Neighbours::wait(int peer, const Transfer& transfer) {
  const double limit = progress_ < 2 ? setup_.connect_s : setup_.stall_s;
  const auto what = fmt::format("waited for {} over {} after {} transfers",
                                setup_.hosts[static_cast<std::size_t>(peer)], setup_.rail, progress_);
  auto done = finish(channel(peer), transfer, patience, Watch(limit, deadline_, what));
  if (!done) waited_for_ = setup_.hosts[static_cast<std::size_t>(peer)];
  if (!done) return done.error().what.rfind(what, 0) == 0 ? done : done.error().with(what);
  ++progress_;
  return {};
}

}  // namespace fabricgate::fabric
