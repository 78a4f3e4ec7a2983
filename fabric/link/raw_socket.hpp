#pragma once
/// Sockets of the reach probe: ARP on one interface, and ICMP echo bound to one interface.
#include <cstdint>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

/// A file descriptor; closed once.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

/// Asks "who has `target`?" and reads who says so. Addresses in host byte order. Works for hardware addresses of any
/// length (Ethernet 6, InfiniBand 20 bytes).
class ArpSocket {
 public:
  /// Errors: unavailable (no such interface), denied (no CAP_NET_RAW), io.
  static Result<ArpSocket> open(const std::string& netdev);

  int fd() const { return socket_.get(); }
  /// Sends the request twice: once from `source`, once from 0.0.0.0 as a probe of RFC 5227. A receiver with strict
  /// reverse-path filtering ignores a foreign source, and one with arp_ignore=2 answers only within one subnet; the
  /// probe is answered by both, and by arp_ignore=1. Errors: io, e.g. interface down.
  Status ask(std::uint32_t source, std::uint32_t target) const;

  struct Answer {
    std::uint32_t address = 0;
    std::string mac;  ///< lower case, colons
  };
  /// Every answer that has arrived; other frames are dropped.
  std::vector<Answer> receive() const;

 private:
  Descriptor socket_;
  int index_ = 0;
  std::uint16_t hardware_ = 1;
  std::vector<std::uint8_t> own_, broadcast_;
};

/// ICMP echo with "don't fragment", bound to one interface.
class EchoSocket {
 public:
  static Result<EchoSocket> open(const std::string& netdev);

  int fd() const { return socket_.get(); }
  /// An IP packet of exactly `bytes` (28 at least). Errors: io; EMSGSIZE when it does not fit the interface's MTU.
  Status send(std::uint32_t target, std::uint16_t sequence, int bytes) const;
  struct Answer {
    std::uint32_t address = 0;
    std::uint16_t sequence = 0;
  };
  std::vector<Answer> receive() const;

 private:
  Descriptor socket_;
  std::uint16_t id_ = 0;
};

}  // namespace fabricgate::fabric
