#include "fabric/round/stream_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fabric/round/pattern.hpp"

namespace fabricgate::fabric {
namespace {

constexpr std::uint64_t full_check_every = 61;  // prime, so that it visits every slot of a window
constexpr double mark_s = 1e-3;                 // between marks of the warm-up: as fine as it need be, and few

double seconds(Deadline::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::uint64_t window_of(const StreamSetup& setup) {
  return setup.plan.window > 0 ? setup.plan.window : stream_window(setup.plan.bytes);
}

std::vector<StreamSlot> make_slots(Channel& channel, std::uint64_t window, std::uint64_t bytes) {
  std::vector<StreamSlot> slots(window);
  for (auto& slot : slots) slot = {.data = channel.memory(bytes), .transfer = &channel.transfer()};
  return slots;
}

std::uint64_t slot_seed(const StreamSetup& setup, std::uint64_t message, std::uint64_t window) {
  return mix(setup.seed ^ setup.plan.bytes) + message % window;
}

}  // namespace

StreamReceiver::StreamReceiver(Channel& channel, const StreamSetup& setup, DirectionSample& direction)
    : channel_(channel),
      setup_(setup),
      direction_(direction),
      window_(window_of(setup)),
      slots_(make_slots(channel, window_, setup.plan.bytes)),
      grant_(reinterpret_cast<StreamGrant*>(channel.memory(sizeof(StreamGrant)))),
      grant_sent_(channel.transfer()) {}

Status StreamReceiver::begin() {
  while (granted_ < window_) {
    if (auto posted = post(); !posted) return posted;
  }
  return announce();
}

Status StreamReceiver::step() {
  if (auto taken = take_all(); !taken) return taken;
  return announce();
}

bool StreamReceiver::full_check(std::uint64_t message) const {
  return message < window_ || message % full_check_every == 0;
}

Status StreamReceiver::post() {
  auto& slot = slots_[granted_ % window_];
  if (full_check(granted_)) poison(slot.data, setup_.plan.bytes);
  ++granted_;
  return channel_.receive(Lane::data, slot.data, setup_.plan.bytes, *slot.transfer);
}

/// A quarter of the window at a time; a busy grant is followed by one that covers it.
Status StreamReceiver::announce() {
  const bool enough = granted_ - announced_ >= std::max<std::uint64_t>(1, window_ / 4) || (last_ && !announced_last_);
  if (!enough || grant_sent_.busy()) return {};
  *grant_ = {.upto = granted_, .last = last_ ? 1u : 0u};
  announced_ = granted_;
  announced_last_ = last_;
  return channel_.send(Lane::control, grant_, sizeof *grant_, grant_sent_);
}

Status StreamReceiver::take_all() {
  while (received_ < granted_) {
    auto& slot = slots_[received_ % window_];
    if (slot.transfer->busy()) return {};
    if (slot.transfer->state == Transfer::State::failed) {
      return Error{ErrorKind::native, fmt::format("{}: message {}: {}", setup_.what, received_, slot.transfer->error)};
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
void StreamReceiver::count(Clock::time_point now) {
  if (received_ == 0) first_ = now;
  if (received_ > 0) longest_gap_s_ = std::max(longest_gap_s_, seconds(now - end_));
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
  if (setup_.plan.cut) {
    last_ = elapsed >= setup_.plan.measure_s;
    cut_ = mark;
    return;
  }
  const double per_message = elapsed / static_cast<double>(mark.messages - start_.messages);
  const double in_flight = per_message * static_cast<double>(granted_ - received_ - 1);
  last_ = elapsed + in_flight >= setup_.plan.measure_s;
}

void StreamReceiver::check(const StreamSlot& slot) {
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

void StreamReceiver::end() {
  const Mark end = setup_.plan.cut ? cut_ : Mark{.time_s = seconds(end_ - first_), .messages = received_};
  const Mark from = setup_.plan.cut ? start_ : window_start(warmup_, start_, end);
  const double elapsed = end.time_s - from.time_s;
  const auto messages = end.messages - from.messages;
  const double bytes = static_cast<double>(messages) * static_cast<double>(setup_.plan.bytes);
  direction_.sweep.push_back({.bytes = setup_.plan.bytes,
                              .bytes_per_s = elapsed > 0 ? bytes / elapsed : 0,
                              .messages = messages,
                              .elapsed_s = elapsed});
  direction_.received_bytes += received_ * setup_.plan.bytes;
  direction_.longest_gap_s = longest_gap_s_;
}

StreamSender::StreamSender(Channel& channel, const StreamSetup& setup)
    : channel_(channel),
      setup_(setup),
      window_(window_of(setup)),
      slots_(make_slots(channel, window_, setup.plan.bytes)),
      grant_(reinterpret_cast<StreamGrant*>(channel.memory(sizeof(StreamGrant)))),
      granted_(channel.transfer()) {}

Status StreamSender::begin() {
  for (std::uint64_t slot = 0; slot < window_; ++slot) {
    fill_pattern(slots_[slot].data, setup_.plan.bytes, slot_seed(setup_, slot, window_));
  }
  return listen();
}

Status StreamSender::step() {
  if (auto heard = take_grant(); !heard) return heard;
  return send_granted();
}

Status StreamSender::listen() {
  return channel_.receive(Lane::control, grant_, sizeof *grant_, granted_);
}

Status StreamSender::take_grant() {
  if (last_ || granted_.busy()) return {};
  if (granted_.state == Transfer::State::failed) {
    return Error{ErrorKind::native, fmt::format("{}: grant from {}: {}", setup_.what, setup_.peer, granted_.error)};
  }
  upto_ = grant_->upto;
  last_ = grant_->last != 0;
  return last_ ? Status() : listen();
}

Status StreamSender::send_granted() {
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

bool StreamSender::finished() const {
  const auto busy = [](const StreamSlot& slot) { return slot.transfer->busy(); };
  return last_ && sent_ >= upto_ && std::none_of(slots_.begin(), slots_.end(), busy);
}

}  // namespace fabricgate::fabric
