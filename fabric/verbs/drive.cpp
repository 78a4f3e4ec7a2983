#include "fabric/verbs/drive.hpp"

#include <fmt/format.h>

#include <thread>

namespace fabricgate::fabric {

bool Patrol::look() {
  turns_ = 0;
  if (moved_) {
    end_ = deadline_.at_most(stall_s_);
  } else {
    std::this_thread::yield();
  }
  moved_ = false;
  return !end_.passed();
}

VerbsFailure Patrol::failure() const {
  return {.cause = "rdma.stalled",
          .what = deadline_.passed() ? fmt::format("{}: the deadline passed", what_)
                                     : fmt::format("{}: nothing completed for {:.1f} s", what_, stall_s_)};
}

Failed drive(Sender* sender, Receiver* receiver, Patrol& patrol) {
  bool sending = sender != nullptr, receiving = receiver != nullptr;
  while (sending || receiving) {
    bool moved = false;
    if (sending) {
      moved = sender->move() > 0;
      if (!sender->good()) [[unlikely]]
        return sender->failure();
      sending = !sender->finished();
    }
    if (receiving) {
      moved = receiver->move() > 0 || moved;
      if (!receiver->good()) [[unlikely]]
        return receiver->failure();
      receiving = !receiver->finished();
    }
    if (!patrol.go_on(moved)) [[unlikely]]
      return patrol.failure();
  }
  return std::nullopt;
}

}  // namespace fabricgate::fabric
