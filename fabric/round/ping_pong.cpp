#include "fabric/round/ping_pong.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "fabric/wait.hpp"

namespace fabricgate::fabric {
namespace {

using Clock = Deadline::Clock;

constexpr std::uint64_t warmup = 10, most = 20000;

struct Ball {
  std::uint64_t number = 0, last = 0;
};

/// Spinning shows the wire's latency and not the scheduler's, but only where a processor can be spared.
Patience patience() {
  const bool spare = std::thread::hardware_concurrency() >= 8;
  return {.spin_s = spare ? 200e-6 : 10e-6, .sleep_s = 0.02};
}

class Player {
 public:
  Player(Channel& channel, const PingPongSetup& setup, Deadline deadline)
      : channel_(channel),
        setup_(setup),
        deadline_(deadline),
        out_(reinterpret_cast<Ball*>(channel.memory(sizeof(Ball)))),
        in_(reinterpret_cast<Ball*>(channel.memory(sizeof(Ball)))),
        sent_(channel.transfer()),
        received_(channel.transfer()) {}

  Status post() { return channel_.receive(Lane::control, in_, sizeof *in_, received_); }

  Status send(Ball ball) {
    *out_ = ball;
    if (auto sent = channel_.send(Lane::control, out_, sizeof *out_, sent_); !sent) return sent;
    return finish(channel_, sent_, patience_, watch(setup_.stall_s));
  }

  Result<Ball> receive(bool first) {
    auto got = finish(channel_, received_, patience_, watch(first ? setup_.connect_s : setup_.stall_s));
    if (!got) return got.error();
    return *in_;
  }

 private:
  Watch watch(double limit_s) const {
    return Watch(limit_s, deadline_, fmt::format("{}: waiting for {}", setup_.what, setup_.peer));
  }

  Channel& channel_;
  const PingPongSetup& setup_;
  Deadline deadline_;
  Ball *out_, *in_;
  Transfer &sent_, &received_;
  Patience patience_ = patience();
};

double percentile(const std::vector<double>& sorted, double share) {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[index];
}

}  // namespace

Result<Latency> ping(Channel& channel, const PingPongSetup& setup, Deadline deadline) {
  Player player(channel, setup, deadline);
  std::vector<double> halves;
  halves.reserve(most);
  auto end = Clock::now();
  for (std::uint64_t number = 0;; ++number) {
    if (number == warmup) end = Deadline::in_seconds(setup.seconds).end();
    const bool last = number > warmup && (Clock::now() >= end || halves.size() + 1 >= most);
    const auto start = Clock::now();
    if (auto posted = player.post(); !posted) return posted.error();
    if (auto sent = player.send({.number = number, .last = last ? 1u : 0u}); !sent) return sent.error();
    auto back = player.receive(number == 0);
    if (!back) return back.error();
    if (back->number != number) {
      return Error{ErrorKind::native, fmt::format("{}: {} sent back message {}, expected {}", setup.what, setup.peer,
                                                  back->number, number)};
    }
    if (number >= warmup) halves.push_back(std::chrono::duration<double>(Clock::now() - start).count() / 2);
    if (last) break;
  }
  std::sort(halves.begin(), halves.end());
  return Latency{.iterations = halves.size(), .p50_s = percentile(halves, 0.5), .p99_s = percentile(halves, 0.99)};
}

Status pong(Channel& channel, const PingPongSetup& setup, Deadline deadline) {
  Player player(channel, setup, deadline);
  for (bool first = true;; first = false) {
    if (auto posted = player.post(); !posted) return posted;
    auto ball = player.receive(first);
    if (!ball) return ball.error();
    if (auto sent = player.send(*ball); !sent) return sent;
    if (ball->last != 0) return {};
  }
}

}  // namespace fabricgate::fabric
