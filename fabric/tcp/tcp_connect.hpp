#pragma once
/// Sockets bound to one local address, so that the traffic goes where the caller means it to go.
#include <optional>
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
/// The same of those that wait already; nullopt when none does.
Result<std::optional<Socket>> tcp_accept_waiting(const Listener& listener, const std::string& peer_address);
Result<Socket> tcp_connect(const std::string& own_address, const std::string& peer_address, int port,
                           Deadline deadline);

struct Place {
  std::string address;
  int port = 0;  ///< own one: 0 = the kernel's choice
};
/// Only begins to connect: the socket is writable when it is known how that ended, see tcp_connect_end. Native code
/// EADDRINUSE when the own port is taken.
Result<Socket> tcp_dial(const Place& own, const Place& peer);
/// How connecting ended, without a word about whom.
Status tcp_connect_end(const Socket& socket);
/// 0: not known.
int own_port(const Socket& socket);

}  // namespace fabricgate::fabric
