#pragma once
/// What the kernel counted on TCP connections of this process: told by TCP_INFO of its own sockets, so no privilege is
/// needed and other processes, rails and peers are not in it.
#include <cstdint>
#include <string>

namespace fabricgate::fabric {

struct TcpCount {
  std::uint64_t segments = 0;       ///< sent with data, repeated ones included
  std::uint64_t retransmitted = 0;  ///< of these, repeated
};

/// Over all connections of this process between two IPv4 addresses in dotted form. Zeros where there is none, or where
/// the kernel does not count segments (before 4.6).
TcpCount count_tcp(const std::string& own_address, const std::string& peer_address);

}  // namespace fabricgate::fabric
