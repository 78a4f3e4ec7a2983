#include "fabric/round/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/round/ping_pong.hpp"
#include "fabric/tcp/tcp_count.hpp"
#include "fabric/thread_cpu.hpp"
#include "fabric/wait.hpp"

namespace fabricgate::fabric {
namespace {

constexpr double both_warmup = 0.3;  // of the time with both directions running
constexpr double latency_share = 0.05;  // of one direction's time; also in order.cpp

Status measure_latency(Channel& channel, const PathSetup& setup, PairSample& half, Deadline deadline) {
  const PingPongSetup ping_pong{.seconds = setup.seconds * latency_share,
                                .connect_s = setup.order.connect_s,
                                .stall_s = setup.order.stall_s,
                                .peer = setup.peer(),
                                .what = fmt::format("latency over {}", setup.path)};
  if (!setup.is_a) return about(ping_pong.what, ping_pong.peer, pong(channel, ping_pong, deadline));
  auto latency = ping(channel, ping_pong, deadline);
  if (!latency) return about(ping_pong.what, ping_pong.peer, latency.error());
  half.latency_iterations = latency->iterations;
  half.latency_p50_s = latency->p50_s;
  half.latency_p99_s = latency->p99_s;
  return {};
}

void note_segments(const TcpCount& before, const TcpCount& after, DirectionSample& direction) {
  if (after.segments <= before.segments || after.retransmitted < before.retransmitted)
    return;  // a connection went away
  direction.segments = after.segments - before.segments;
  direction.retransmitted = after.retransmitted - before.retransmitted;
}

/// What this thread's end of a stream cost; `before` is what the end had moved before it.
void note_cpu(double cpu_s, std::uint64_t before, bool sends, DirectionSample& direction) {
  const std::uint64_t bytes = (sends ? direction.sent_bytes : direction.received_bytes) - before;
  if (bytes == 0) return;
  (sends ? direction.sent_cpu_s_per_byte : direction.received_cpu_s_per_byte) = cpu_s / static_cast<double>(bytes);
}

Status measure_direction(Channel& channel, const PathSetup& setup, bool a_to_b, DirectionSample& direction,
                         Deadline deadline) {
  const auto end = Deadline::in_seconds(setup.seconds);
  auto plans = stream_plans(setup.order, setup.seconds);
  for (auto& plan : plans) {
    // on a slow path the small sizes take longer than their share; the last one gives it back, but keeps half
    if (&plan == &plans.back()) plan.measure_s = std::max(plan.measure_s / 2, end.left_s() - plan.warmup_s);
    const StreamSetup stream{
        .plan = plan,
        .seed = setup.seed + (a_to_b ? 1 : 2),
        .stall_s = setup.order.stall_s,
        .self = setup.self(),
        .peer = setup.peer(),
        .what = fmt::format("{} over {}, {}-byte messages", a_to_b ? "a_to_b" : "b_to_a", setup.path, plan.bytes),
        .hooks = setup.hooks};
    const bool sends = a_to_b == setup.is_a, judged = &plan == &plans.back();
    const TcpCount before = judged && sends ? count_tcp(setup.own_address, setup.peer_address) : TcpCount{};
    const double cpu_before_s = thread_cpu_s();
    const std::uint64_t moved = sends ? direction.sent_bytes : direction.received_bytes;
    auto done = sends ? stream_send(channel, stream, direction, deadline)
                      : stream_receive(channel, stream, direction, deadline);
    if (judged) note_cpu(thread_cpu_s() - cpu_before_s, moved, sends, direction);
    if (judged && sends) note_segments(before, count_tcp(setup.own_address, setup.peer_address), direction);
    if (!done) return done;
  }
  return {};
}

/// Windows of the same time and small messages: what one direction carries once the other has ended must not count.
/// Both ends stop at the first error; a failure of this phase is that of the direction which arrives here.
void measure_both(Channel& channel, const PathSetup& setup, PairSample& half, Deadline deadline) {
  const double warmup_s = std::min(setup.order.warmup_s, setup.order.both_seconds * both_warmup);
  const std::uint64_t bytes = both_bytes(setup.order);
  const StreamPlan plan{.bytes = bytes,
                        .warmup_s = warmup_s,
                        .measure_s = setup.order.both_seconds - warmup_s,
                        .window = stream_window(setup.order.sizes.back()) * setup.order.sizes.back() / bytes,
                        .cut = true};
  const auto stream = [&](bool a_to_b) {
    return StreamSetup{.plan = plan,
                       .seed = setup.seed + (a_to_b ? 3 : 4),
                       .stall_s = setup.order.stall_s,
                       .self = setup.self(),
                       .peer = setup.peer(),
                       .what = fmt::format("both directions over {}, {}-byte messages", setup.path, plan.bytes),
                       .hooks = setup.hooks};
  };
  DirectionSample& arriving = setup.is_a ? half.b_to_a_both : half.a_to_b_both;
  const StreamSetup out = stream(setup.is_a), in = stream(!setup.is_a);
  const StreamEnd a_to_b{channel, setup.is_a ? out : in, half.a_to_b_both};
  const StreamEnd b_to_a{*setup.back, setup.is_a ? in : out, half.b_to_a_both};
  auto measured = setup.is_a ? stream_both(a_to_b, b_to_a, deadline) : stream_both(b_to_a, a_to_b, deadline);
  if (!measured) arriving.error = measured.error().what;
}

/// Neither end closes while the other still waits for an acknowledgement; who does not answer has gone already.
void say_goodbye(Channel& channel, Deadline deadline) {
  auto* words = channel.memory(16);
  auto& sent = channel.transfer();
  auto& received = channel.transfer();
  if (!channel.receive(Lane::control, words, 8, received)) return;
  if (!channel.send(Lane::control, words + 8, 8, sent)) return;
  const Watch watch(0.5, deadline, "goodbye");
  (void)finish(channel, sent, Patience{}, watch);
  (void)finish(channel, received, Patience{}, watch);
}

}  // namespace

void measure_path(Channel& channel, const PathSetup& setup, PairSample& half, Deadline deadline) {
  if (auto met = measure_latency(channel, setup, half, deadline); !met) {
    half.error = met.error().what;
    half.error_host = setup.self();
    return;
  }
  const bool order[2] = {!setup.task.b_first, setup.task.b_first};
  for (const bool a_to_b : order) {
    auto& direction = a_to_b ? half.a_to_b : half.b_to_a;
    auto measured = measure_direction(channel, setup, a_to_b, direction, deadline);
    if (measured) continue;
    direction.error = measured.error().what;
    auto& other = a_to_b ? half.b_to_a : half.a_to_b;
    if (a_to_b != setup.task.b_first) {
      other.error = fmt::format("not measured, because {} ended with an error", a_to_b ? "a_to_b" : "b_to_a");
    }
    return;
  }
  if (setup.back != nullptr) measure_both(channel, setup, half, deadline);
  say_goodbye(channel, deadline);
}

}  // namespace fabricgate::fabric
