#include "fabric/round/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fabric/round/pattern.hpp"
#include "fabric/round/window.hpp"
#include "fabric/wait.hpp"

namespace fabricgate::fabric {
namespace {

using Clock = Deadline::Clock;

constexpr std::uint64_t full_check_every = 61;  // prime, so that it visits every slot of a window
constexpr Patience stream_patience{.spin_s = 50e-6, .sleep_s = 0.02};  // longer than a gap on a fast link

constexpr double mark_s = 1e-3;  // between marks of the warm-up: as fine as it need be, and few

/// "You may send messages below `upto`; there will be no more" when last.
struct Grant {
  std::uint64_t upto = 0, last = 0;
};

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

struct Slot {
  std::byte* data = nullptr;
  Transfer* transfer = nullptr;
};

std::vector<Slot> make_slots(Channel& channel, std::uint64_t window, std::uint64_t bytes) {
  std::vector<Slot> slots(window);
  for (auto& slot : slots) slot = {.data = channel.memory(bytes), .transfer = &channel.transfer()};
  return slots;
}

std::uint64_t slot_seed(const StreamSetup& setup, std::uint64_t message, std::uint64_t window) {
  return mix(setup.seed ^ setup.plan.bytes) + message % window;
}

class Receiver {
 public:
  Receiver(Channel& channel, const StreamSetup& setup, DirectionSample& direction)
      : channel_(channel),
        setup_(setup),
        direction_(direction),
        window_(stream_window(setup.plan.bytes)),
        slots_(make_slots(channel, window_, setup.plan.bytes)),
        grant_(reinterpret_cast<Grant*>(channel.memory(sizeof(Grant)))),
        grant_sent_(channel.transfer()) {}

  Status run(Deadline deadline) {
    Watch watch(setup_.stall_s, deadline, fmt::format("{}: waiting for messages from {}", setup_.what, setup_.peer));
    while (granted_ < window_) {
      if (auto posted = post(); !posted) return posted;
    }
    while (!last_ || received_ < granted_ || !announced_last_ || grant_sent_.busy()) {
      if (auto told = announce(); !told) return told;
      auto moved = channel_.progress(stream_patience);
      const auto before = received_;
      if (auto taken = take_all(); !taken) return taken;
      if (received_ > before) {
        watch.moved();
        continue;
      }
      if (!moved) return moved;
      if (auto in_time = watch.check(); !in_time) return in_time;
    }
    return point();
  }

 private:
  bool full_check(std::uint64_t message) const { return message < window_ || message % full_check_every == 0; }

  Status post() {
    auto& slot = slots_[granted_ % window_];
    if (full_check(granted_)) poison(slot.data, setup_.plan.bytes);
    ++granted_;
    return channel_.receive(Lane::data, slot.data, setup_.plan.bytes, *slot.transfer);
  }

  /// A quarter of the window at a time; a busy grant is followed by one that covers it.
  Status announce() {
    const bool enough = granted_ - announced_ >= std::max<std::uint64_t>(1, window_ / 4) || (last_ && !announced_last_);
    if (!enough || grant_sent_.busy()) return {};
    *grant_ = {.upto = granted_, .last = last_ ? 1u : 0u};
    announced_ = granted_;
    announced_last_ = last_;
    return channel_.send(Lane::control, grant_, sizeof *grant_, grant_sent_);
  }

  Status take_all() {
    while (received_ < granted_) {
      auto& slot = slots_[received_ % window_];
      if (slot.transfer->busy()) return {};
      if (slot.transfer->state == Transfer::State::failed) {
        return Error{ErrorKind::native,
                     fmt::format("{}: message {}: {}", setup_.what, received_, slot.transfer->error)};
      }
      count(Clock::now());
      check(slot);
      ++received_;
      if (last_) continue;
      if (auto posted = post(); !posted) return posted;
    }
    return {};
  }

  /// Called for message received_ before it is counted.
  void count(Clock::time_point now) {
    if (received_ == 0) first_ = now;
    end_ = now;
    const bool warm = seconds(now - first_) >= setup_.plan.warmup_s && received_ + 1 >= window_;
    const Mark mark{.time_s = seconds(now - first_), .messages = received_ + 1};
    if (!measuring_ && warm) {
      measuring_ = true;
      start_ = mark;
      return;
    }
    if (!measuring_ && (warmup_.empty() || mark.time_s - warmup_.back().time_s >= mark_s)) warmup_.push_back(mark);
    if (!measuring_ || last_) return;
    const double elapsed = mark.time_s - start_.time_s;
    const double per_message = elapsed / static_cast<double>(mark.messages - start_.messages);
    const double in_flight = per_message * static_cast<double>(granted_ - received_ - 1);
    last_ = elapsed + in_flight >= setup_.plan.measure_s;
  }

  void check(const Slot& slot) {
    const bool full = full_check(received_);
    const auto wrong =
        check_pattern(slot.data, setup_.plan.bytes, slot_seed(setup_, received_, window_), received_, full);
    if (full || !wrong.empty()) ++direction_.payload_checked;
    if (wrong.empty()) return;
    ++direction_.payload_errors;
    if (direction_.first_wrong.empty()) {
      direction_.first_wrong = fmt::format("message {} of {} bytes, {}", received_, setup_.plan.bytes, wrong);
    }
  }

  Status point() {
    const Mark end{.time_s = seconds(end_ - first_), .messages = received_};
    const Mark from = window_start(warmup_, start_, end);
    const double elapsed = end.time_s - from.time_s;
    const auto messages = end.messages - from.messages;
    const double bytes = static_cast<double>(messages) * static_cast<double>(setup_.plan.bytes);
    direction_.sweep.push_back({.bytes = setup_.plan.bytes,
                                .bytes_per_s = elapsed > 0 ? bytes / elapsed : 0,
                                .messages = messages,
                                .elapsed_s = elapsed});
    return {};
  }

  Channel& channel_;
  const StreamSetup& setup_;
  DirectionSample& direction_;
  const std::uint64_t window_;
  std::vector<Slot> slots_;
  Grant* grant_;
  Transfer& grant_sent_;
  std::uint64_t granted_ = 0, announced_ = 0, received_ = 0;
  bool last_ = false, announced_last_ = false, measuring_ = false;
  Clock::time_point first_, end_;
  std::vector<Mark> warmup_;
  Mark start_;
};

class Sender {
 public:
  Sender(Channel& channel, const StreamSetup& setup)
      : channel_(channel),
        setup_(setup),
        window_(stream_window(setup.plan.bytes)),
        slots_(make_slots(channel, window_, setup.plan.bytes)),
        grant_(reinterpret_cast<Grant*>(channel.memory(sizeof(Grant)))),
        granted_(channel.transfer()) {}

  Status run(Deadline deadline) {
    Watch watch(setup_.stall_s, deadline, fmt::format("{}: waiting for {} to take messages", setup_.what, setup_.peer));
    for (std::uint64_t slot = 0; slot < window_; ++slot) {
      fill_pattern(slots_[slot].data, setup_.plan.bytes, slot_seed(setup_, slot, window_));
    }
    if (auto posted = listen(); !posted) return posted;
    while (!last_ || sent_ < upto_ || any_busy()) {
      const auto before = sent_;
      auto moved = channel_.progress(stream_patience);
      if (auto heard = take_grant(); !heard) return heard;
      if (auto sent = send_granted(); !sent) return sent;
      if (sent_ > before) {
        watch.moved();
        continue;
      }
      if (!moved) return moved;
      if (auto in_time = watch.check(); !in_time) return in_time;
    }
    return {};
  }

 private:
  Status listen() { return channel_.receive(Lane::control, grant_, sizeof *grant_, granted_); }

  Status take_grant() {
    if (last_ || granted_.busy()) return {};
    if (granted_.state == Transfer::State::failed) {
      return Error{ErrorKind::native, fmt::format("{}: grant from {}: {}", setup_.what, setup_.peer, granted_.error)};
    }
    upto_ = grant_->upto;
    last_ = grant_->last != 0;
    return last_ ? Status() : listen();
  }

  Status send_granted() {
    while (sent_ < upto_) {
      auto& slot = slots_[sent_ % window_];
      if (slot.transfer->busy()) return {};
      if (slot.transfer->state == Transfer::State::failed) {
        return Error{ErrorKind::native,
                     fmt::format("{}: sending to {}: {}", setup_.what, setup_.peer, slot.transfer->error)};
      }
      number_message(slot.data, slot_seed(setup_, sent_, window_), sent_);
      if (setup_.hooks != nullptr && setup_.hooks->before_send) {
        auto allowed = setup_.hooks->before_send(setup_.self, slot.data, setup_.plan.bytes, sent_);
        if (!allowed) return allowed;
      }
      if (auto sent = channel_.send(Lane::data, slot.data, setup_.plan.bytes, *slot.transfer); !sent) return sent;
      ++sent_;
    }
    return {};
  }

  bool any_busy() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.transfer->busy(); });
  }

  Channel& channel_;
  const StreamSetup& setup_;
  const std::uint64_t window_;
  std::vector<Slot> slots_;
  Grant* grant_;
  Transfer& granted_;
  std::uint64_t upto_ = 0, sent_ = 0;
  bool last_ = false;
};

}  // namespace

std::uint64_t stream_window(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>((1u << 20) / bytes, 4, 64);
}

Status stream_receive(Channel& channel, const StreamSetup& setup, DirectionSample& direction, Deadline deadline) {
  return about(setup.what, setup.peer, Receiver(channel, setup, direction).run(deadline));
}

Status stream_send(Channel& channel, const StreamSetup& setup, Deadline deadline) {
  return about(setup.what, setup.peer, Sender(channel, setup).run(deadline));
}

}  // namespace fabricgate::fabric
