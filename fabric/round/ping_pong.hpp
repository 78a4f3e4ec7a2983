#pragma once
/// Half-round-trip latency: one end sends a small message and waits for it to come back.
#include <cstdint>
#include <string>

#include "fabric/channel.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

struct Latency {
  std::uint64_t iterations = 0;
  double p50_s = 0, p99_s = 0;  ///< half round trip
};

struct PingPongSetup {
  double seconds = 0.05;  ///< how long to go on
  double connect_s = 5;   ///< for the first message
  double stall_s = 4;
  std::string peer, what;  ///< for errors
};

/// The end that counts; its first messages open the connection and are not counted.
Result<Latency> ping(Channel& channel, const PingPongSetup& setup, Deadline deadline);
/// The other end.
Status pong(Channel& channel, const PingPongSetup& setup, Deadline deadline);

}  // namespace fabricgate::fabric
