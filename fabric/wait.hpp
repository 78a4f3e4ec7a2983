#pragma once
/// Waiting on a channel with a limit for the whole and one for standing still.
#include <fmt/format.h>

#include <string>

#include "fabric/channel.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

/// Kind timeout when nothing happened for `stall_s`, or the deadline passed. Call moved() whenever something happened.
class Watch {
 public:
  Watch(double stall_s, Deadline deadline, std::string waiting_for)
      : stall_s_(stall_s), deadline_(deadline), end_(deadline.at_most(stall_s)), waiting_for_(std::move(waiting_for)) {}

  void moved() { end_ = deadline_.at_most(stall_s_); }
  Status check() const {
    if (!end_.passed()) return {};
    const bool all = deadline_.passed();
    return Error{ErrorKind::timeout, all ? fmt::format("{}: the deadline passed", waiting_for_)
                                         : fmt::format("{}: nothing for {:.1f} s", waiting_for_, stall_s_)};
  }

 private:
  double stall_s_;
  Deadline deadline_, end_;
  std::string waiting_for_;
};

/// The error says what it was about, also when it comes from the engine.
inline Status about(const std::string& what, const std::string& peer, const Status& status) {
  if (status || status.error().what.rfind(what, 0) == 0) return status;
  return status.error().with(fmt::format("{}, with {}", what, peer));
}

/// Progress until the transfer is not busy.
inline Status finish(Channel& channel, const Transfer& transfer, Patience patience, const Watch& watch) {
  while (transfer.busy()) {
    if (auto moved = channel.progress(patience); !moved && transfer.busy()) return moved;
    if (auto in_time = watch.check(); !in_time && transfer.busy()) return in_time;
  }
  if (transfer.state == Transfer::State::failed) return Error{ErrorKind::native, transfer.error};
  return {};
}

}  // namespace fabricgate::fabric
