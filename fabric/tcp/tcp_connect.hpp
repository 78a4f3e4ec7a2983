#pragma once
/// Sockets bound to one local address, so that the traffic goes where the caller means it to go.
#include <string>

#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate::fabric {

/// Owns a descriptor; -1 = none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();
  int fd() const { return fd_; }
  int release();

 private:
  int fd_ = -1;
};

struct Listener {
  Socket socket;
  int port = 0;  ///< given by the kernel
};

/// Addresses are IPv4 in dotted form. All sockets are non-blocking and close on exec.
Result<Listener> tcp_listen(const std::string& address);
/// The first connection that comes from `peer_address`; others are closed.
Result<Socket> tcp_accept(const Listener& listener, const std::string& peer_address, Deadline deadline);
Result<Socket> tcp_connect(const std::string& own_address, const std::string& peer_address, int port,
                           Deadline deadline);

}  // namespace fabricgate::fabric
