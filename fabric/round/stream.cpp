#include "fabric/round/stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/round/stream_ends.hpp"
#include "fabric/wait.hpp"

namespace fabricgate::fabric {
namespace {

constexpr Patience patience{.spin_s = 50e-6, .sleep_s = 0.02};  // longer than a gap on a fast link

/// What runs at once; a side that does not is null, and its channel with it.
struct Ends {
  Channel* out_channel = nullptr;
  StreamSender* out = nullptr;
  Channel* in_channel = nullptr;
  StreamReceiver* in = nullptr;
};

Status progress(const Ends& ends) {
  if (ends.out_channel == nullptr) return ends.in_channel->progress(patience);
  auto moved = ends.out_channel->progress(patience);
  if (!moved || ends.in_channel == nullptr) return moved;
  return ends.in_channel->progress({.spin_s = 0, .sleep_s = 0});
}

/// Until all of it is finished.
Status drive(const Ends& ends, Watch watch) {
  StreamSender* out = ends.out;
  StreamReceiver* in = ends.in;
  const auto finished = [&] { return (out == nullptr || out->finished()) && (in == nullptr || in->finished()); };
  const auto messages = [&] { return (out == nullptr ? 0 : out->messages()) + (in == nullptr ? 0 : in->messages()); };
  if (in != nullptr)
    if (auto begun = in->begin(); !begun) return begun;
  if (out != nullptr)
    if (auto begun = out->begin(); !begun) return begun;
  while (!finished()) {
    auto moved = progress(ends);
    const auto before = messages();
    if (in != nullptr)
      if (auto stepped = in->step(); !stepped) return stepped;
    if (out != nullptr)
      if (auto stepped = out->step(); !stepped) return stepped;
    if (messages() > before) {
      watch.moved();
      continue;
    }
    if (!moved) return moved;
    if (auto in_time = watch.check(); !in_time) return in_time;
  }
  if (in != nullptr) in->end();
  return {};
}

}  // namespace

Status stream_receive(Channel& channel, const StreamSetup& setup, DirectionSample& direction, Deadline deadline) {
  StreamReceiver in(channel, setup, direction);
  const Watch watch(setup.stall_s, deadline, fmt::format("{}: waiting for messages from {}", setup.what, setup.peer));
  return about(setup.what, setup.peer, drive({.in_channel = &channel, .in = &in}, watch));
}

Status stream_send(Channel& channel, const StreamSetup& setup, DirectionSample& direction, Deadline deadline) {
  StreamSender out(channel, setup);
  const Watch watch(setup.stall_s, deadline,
                    fmt::format("{}: waiting for {} to take messages", setup.what, setup.peer));
  const Status driven = drive({.out_channel = &channel, .out = &out}, watch);
  direction.sent_bytes += out.messages() * setup.plan.bytes;
  return about(setup.what, setup.peer, driven);
}

Status stream_both(const StreamEnd& out_end, const StreamEnd& in_end, Deadline deadline) {
  StreamSender out(out_end.channel, out_end.setup);
  StreamReceiver in(in_end.channel, in_end.setup, in_end.direction);
  const StreamSetup& setup = in_end.setup;
  const Watch watch(setup.stall_s, deadline, fmt::format("{}: waiting for {}", setup.what, setup.peer));
  const Ends ends{.out_channel = &out_end.channel, .out = &out, .in_channel = &in_end.channel, .in = &in};
  const Status driven = drive(ends, watch);
  out_end.direction.sent_bytes += out.messages() * out_end.setup.plan.bytes;
  return about(setup.what, setup.peer, driven);
}

}  // namespace fabricgate::fabric
