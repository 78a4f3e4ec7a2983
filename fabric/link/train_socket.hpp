#pragma once
/// The socket of a frame train: UDP on one interface, "don't fragment", with buffers that hold a whole train, and
/// knowing what its own host threw away.
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/link/raw_socket.hpp"

namespace fabricgate::fabric {

class TrainSocket {
 public:
  /// Bound to `source` (host byte order) on `netdev`, any port. Errors: unavailable, denied, io.
  static Result<TrainSocket> open(const std::string& netdev, std::uint32_t source, int receive_buffer_bytes = 4 << 20);

  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }
  /// Sends as one packet. False: not sent, the own queue is full or an earlier packet was refused; try again later.
  /// Errors: io, with EMSGSIZE when the packet does not fit the interface.
  Result<bool> send(std::uint32_t target, std::uint16_t port, const std::vector<std::uint8_t>& payload) const;
  /// The next packet that has arrived; empty when there is none. At most `head_bytes` of it are kept.
  std::vector<std::uint8_t> receive(std::size_t head_bytes) const;
  /// Packets that reached this socket and were thrown away for want of buffer.
  std::uint64_t dropped() const;

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
};

/// Packets this host threw away between interface and socket, all interfaces together: second column of
/// /proc/net/softnet_stat. 0 when it cannot be read.
std::uint64_t backlog_drops();
/// The same from the file's text.
std::uint64_t backlog_drops_in(const std::string& text);

}  // namespace fabricgate::fabric
