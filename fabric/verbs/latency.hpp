#pragma once
/// Ping-pong of writes or sends over the first queue pair. The end that begins notes the time after each message it
/// posts, while that one flies: a difference of two is a round trip, and reading the clock is in none of them.
#include <vector>

#include "fabric/verbs/drive.hpp"

namespace fabricgate::fabric {

/// Half round trips from time stamps; the first tenth warms up and does not count. Percentiles by nearest rank.
VerbsLatency latency_of(const std::vector<double>& stamps_s, const VerbsStep& step);

class PingPong {
 public:
  PingPong(const Endpoint& endpoint, const EndInfo& peer, const VerbsStep& step, bool begins);
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;

  /// Posts receives where messages are sent; before the peer may begin.
  [[nodiscard]] Failed fill();
  [[nodiscard]] Failed run(Patrol& patrol);
  /// Of the end that begins.
  const std::vector<double>& stamps_s() const { return stamps_s_; }

 private:
  Failed post(std::uint64_t number, Patrol& patrol);
  Failed wait(std::uint64_t number, Patrol& patrol);
  bool arrived(std::uint64_t number);
  Failed reap();

  const Endpoint& endpoint_;
  const VerbsStep step_;
  const bool begins_;
  ibv_sge sge_{};
  ibv_send_wr wr_{};
  std::byte *out_ = nullptr, *in_ = nullptr;  ///< last byte of the message that goes and of the one that comes
  std::uint64_t since_signal_ = 0, in_flight_ = 0;
  Receiver receiver_;
  BadCompletions bad_;
  std::vector<double> stamps_s_;
};

}  // namespace fabricgate::fabric
