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
  const int self = made->self();
  for (const int peer : neighbours_of(self, made->size())) {
    if (auto opened = made->open(rail, peer, made->channels_[peer], 1); !opened) return opened.error();  // no mark is 0
  }
  if (made->size() != 2) return made;
  if (auto opened = made->open(rail, 1 - self, made->back_, 3); !opened) return opened.error();
  return made;
}

Status Neighbours::open(UcxRail& rail, int peer, std::unique_ptr<UcxChannel>& channel, int first_mark) {
  const auto number = static_cast<std::size_t>(peer);
  auto opened = rail.connect(setup_.addresses[number], static_cast<unsigned>(self() + first_mark),
                             static_cast<unsigned>(peer + first_mark));
  if (!opened) return opened.error().with(fmt::format("to {} over {}", setup_.hosts[number], setup_.rail));
  channel = std::move(*opened);
  return {};
}

Status Neighbours::wait(int peer, const Transfer& transfer) {
  const double limit = progress_ < 2 ? setup_.connect_s : setup_.stall_s;
  const auto what = fmt::format("waited for {} over {} after {} transfers",
                                setup_.hosts[static_cast<std::size_t>(peer)], setup_.rail, progress_);
  auto done = finish(to(peer), transfer, patience, Watch(limit, deadline_, what));
  if (!done) waited_for_ = setup_.hosts[static_cast<std::size_t>(peer)];
  if (!done) return done.error().what.rfind(what, 0) == 0 ? done : done.error().with(what);
  ++progress_;
  return {};
}

}  // namespace fabricgate::fabric
