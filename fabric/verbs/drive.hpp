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
  /// Turns of a loop until the next look: some 10 us, longer than a round trip. A turn polls a completion queue, or a
  /// byte.
  static constexpr std::uint32_t queue_turns = 1024, byte_turns = 4096;

  Patrol(double stall_s, Deadline deadline, std::string what, std::uint32_t turns_per_look = queue_turns)
      : stall_s_(stall_s),
        deadline_(deadline),
        end_(deadline.at_most(stall_s)),
        what_(std::move(what)),
        turns_per_look_(turns_per_look) {}

  /// False: give up, see failure().
  bool go_on(bool moved) {
    moved_ = moved_ || moved;
    return ++turns_ < turns_per_look_ || look();
  }
  VerbsFailure failure() const;

 private:
  bool look();

  double stall_s_;
  Deadline deadline_, end_;
  std::string what_;
  const std::uint32_t turns_per_look_;
  std::uint32_t turns_ = 0;
  bool moved_ = false;
};

/// Either may be null: this end does not post, or takes nothing.
[[nodiscard]] Failed drive(Sender* sender, Receiver* receiver, Patrol& patrol);

}  // namespace fabricgate::fabric
