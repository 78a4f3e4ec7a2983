#pragma once
/// What each of many connections carries beyond its first word: a burst of full-size segments, which comes back
/// inverted. Connections are made of the smallest packets, and so do not show
///   - a path of many on which full-size frames are lost: the burst does not arrive;
///   - a path of many that is far slower than the others: the burst takes far longer.
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "fabric/tcp/tcp_connect.hpp"

namespace fabricgate::fabric {

/// Three segments at least where the MTU is 9000; a path that is slowed may let a few frames pass at full rate first. 64 such
/// bursts, both ways and from both ends, cost a 1 Gb/s rail 34 ms.
constexpr std::size_t burst_bytes = 32 << 10;

/// A burst is handed over in one piece.
void make_room(const Socket& socket);

using Token = std::uint64_t;

/// Bytes that go one way of a non-blocking socket as it takes them.
struct Message {
  std::vector<unsigned char> bytes;
  std::size_t done = 0;

  bool whole() const { return done == bytes.size(); }
  /// False when the connection ended.
  bool read_from(const Socket& socket);
  bool write_to(const Socket& socket);
};

Message empty_message(std::size_t bytes);
Message word_of(Token token);
/// Other bytes for every token.
Message burst_of(Token token);
/// What the peer's process must answer: not what a mirror would.
Message inverted(const Message& message);

/// How long the bursts of connections that run one by one took. Those that stand out are repeated, because a process
/// that waits for its processor is slow once, a slow path always: the best time of each counts.
class BurstTimes {
 public:
  void note(std::size_t flow, double seconds);
  /// A quarter of the connections are at least so quick: more than half of them may take a slow member of a bond.
  double usual() const;
  bool stands_out(std::size_t flow) const;
  /// The slowest that stand out, slowest first.
  std::vector<std::size_t> to_repeat() const;
  double of(std::size_t flow) const;

 private:
  std::map<std::size_t, double> times_;
};

}  // namespace fabricgate::fabric
