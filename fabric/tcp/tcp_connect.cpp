#include "fabric/tcp/tcp_connect.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fabricgate::fabric {
namespace {

Result<sockaddr_in> endpoint(const std::string& address, int port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1) {
    return Error{ErrorKind::parse, fmt::format("address '{}': expected IPv4 like 10.0.0.1", address)};
  }
  return place;
}

const sockaddr* plain(const sockaddr_in& place) {
  return reinterpret_cast<const sockaddr*>(&place);
}

Result<Socket> bound_socket(const std::string& address) {
  auto place = endpoint(address, 0);
  if (!place) return place.error();
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return error_from_errno("socket", errno);
  if (::bind(socket.fd(), plain(*place), sizeof *place) != 0) {
    return error_from_errno(fmt::format("bind to {}", address), errno);
  }
  return socket;
}

void send_at_once(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Until `fd` has `events`; false when the deadline passed.
bool wait_for(int fd, short events, Deadline deadline) {
  while (!deadline.passed()) {
    pollfd wait{.fd = fd, .events = events, .revents = 0};
    if (::poll(&wait, 1, deadline.left_ms()) > 0) return true;
  }
  return false;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

int Socket::release() {
  return std::exchange(fd_, -1);
}

Result<Listener> tcp_listen(const std::string& address) {
  auto socket = bound_socket(address);
  if (!socket) return socket.error();
  if (::listen(socket->fd(), 8) != 0) return error_from_errno(fmt::format("listen on {}", address), errno);
  sockaddr_in place{};
  socklen_t length = sizeof place;
  if (::getsockname(socket->fd(), reinterpret_cast<sockaddr*>(&place), &length) != 0) {
    return error_from_errno("getsockname", errno);
  }
  return Listener{.socket = std::move(*socket), .port = ntohs(place.sin_port)};
}

Result<Socket> tcp_accept(const Listener& listener, const std::string& peer_address, Deadline deadline) {
  auto expected = endpoint(peer_address, 0);
  if (!expected) return expected.error();
  while (wait_for(listener.socket.fd(), POLLIN, deadline)) {
    sockaddr_in place{};
    socklen_t length = sizeof place;
    Socket socket(
        ::accept4(listener.socket.fd(), reinterpret_cast<sockaddr*>(&place), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.fd() < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) continue;
      return error_from_errno("accept", errno);
    }
    if (place.sin_addr.s_addr != expected->sin_addr.s_addr) continue;
    send_at_once(socket.fd());
    return socket;
  }
  return Error{ErrorKind::timeout, fmt::format("accept: no connection from {} in time", peer_address)};
}

Result<Socket> tcp_connect(const std::string& own_address, const std::string& peer_address, int port,
                           Deadline deadline) {
  auto place = endpoint(peer_address, port);
  if (!place) return place.error();
  auto socket = bound_socket(own_address);
  if (!socket) return socket.error();
  const auto what = fmt::format("connect from {} to {}:{}", own_address, peer_address, port);
  if (::connect(socket->fd(), plain(*place), sizeof *place) != 0 && errno != EINPROGRESS) {
    return error_from_errno(what, errno);
  }
  if (!wait_for(socket->fd(), POLLOUT, deadline)) return Error{ErrorKind::timeout, what + ": no answer in time"};
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(socket->fd(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
  if (code != 0) return error_from_errno(what, code);
  send_at_once(socket->fd());
  return std::move(*socket);
}

}  // namespace fabricgate::fabric
