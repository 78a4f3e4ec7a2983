#pragma once
/// Runs what one end has to do in a step, polling, until it is done, something is bad, or nothing moves any more.
#include <cstdint>

#include "fabric/verbs/receiver.hpp"
#include "fabric/verbs/sender.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

/// Called in a polling loop. Looks at the clock rarely, and lets others have the processor when nothing moves for long:
/// on cores of their own that is no loss, on shared ones the peer or the kernel's soft RDMA needs it.
class Patrol {
 public:
  Patrol(double stall_s, Deadline deadline, std::string what)
      : stall_s_(stall_s), deadline_(deadline), end_(deadline.at_most(stall_s)), what_(std::move(what)) {}

  /// False: give up, see failure().
  bool go_on(bool moved) {
    moved_ = moved_ || moved;
    return ++turns_ % turns_per_look != 0 || look();
  }
  VerbsFailure failure() const;

 private:
  static constexpr std::uint32_t turns_per_look = 4096;  // some 10 us of polling, longer than a round trip
  bool look();

  double stall_s_;
  Deadline deadline_, end_;
  std::string what_;
  std::uint32_t turns_ = 0;
  bool moved_ = false;
};

/// Either may be null: this end does not post, or takes nothing.
[[nodiscard]] Failed drive(Sender* sender, Receiver* receiver, Patrol& patrol);

}  // namespace fabricgate::fabric
