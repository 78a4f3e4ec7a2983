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

constexpr int backlog = 256;  // more connections than a peer dials at once, see flows.hpp

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

Result<Socket> bound_socket(const Place& own) {
  auto place = endpoint(own.address, own.port);
  if (!place) return place.error();
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return error_from_errno("socket", errno);
  if (::bind(socket.fd(), plain(*place), sizeof *place) != 0) {
    return error_from_errno(fmt::format("bind to {}", own.address), errno);
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
  auto socket = bound_socket({address});
  if (!socket) return socket.error();
  if (::listen(socket->fd(), backlog) != 0) return error_from_errno(fmt::format("listen on {}", address), errno);
  const int port = own_port(*socket);
  if (port == 0) return error_from_errno("getsockname", errno);
  return Listener{.socket = std::move(*socket), .port = port};
}

Result<std::optional<Socket>> tcp_accept_waiting(const Listener& listener, const std::string& peer_address) {
  auto expected = endpoint(peer_address, 0);
  if (!expected) return expected.error();
  for (;;) {
    sockaddr_in place{};
    socklen_t length = sizeof place;
    Socket socket(
        ::accept4(listener.socket.fd(), reinterpret_cast<sockaddr*>(&place), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.fd() < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::optional<Socket>();
      return error_from_errno("accept", errno);
    }
    if (place.sin_addr.s_addr != expected->sin_addr.s_addr) continue;
    send_at_once(socket.fd());
    return std::optional<Socket>(std::move(socket));
  }
}

Result<Socket> tcp_accept(const Listener& listener, const std::string& peer_address, Deadline deadline) {
  while (wait_for(listener.socket.fd(), POLLIN, deadline)) {
    auto socket = tcp_accept_waiting(listener, peer_address);
    if (!socket) return socket.error();
    if (*socket) return std::move(**socket);
  }
  return Error{ErrorKind::timeout, fmt::format("accept: no connection from {} in time", peer_address)};
}

Result<Socket> tcp_dial(const Place& own, const Place& peer) {
  auto place = endpoint(peer.address, peer.port);
  if (!place) return place.error();
  auto socket = bound_socket(own);
  if (!socket) return socket.error();
  if (::connect(socket->fd(), plain(*place), sizeof *place) != 0 && errno != EINPROGRESS)
    return error_from_errno(fmt::format("connect from {} to {}:{}", own.address, peer.address, peer.port), errno);
  return std::move(*socket);
}

Status tcp_connect_end(const Socket& socket) {
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
  if (code != 0) return error_from_errno("connect", code);
  send_at_once(socket.fd());
  return {};
}

Result<Socket> tcp_connect(const std::string& own_address, const std::string& peer_address, int port,
                           Deadline deadline) {
  auto socket = tcp_dial({own_address}, {peer_address, port});
  if (!socket) return socket.error();
  const auto what = fmt::format("connect from {} to {}:{}", own_address, peer_address, port);
  if (!wait_for(socket->fd(), POLLOUT, deadline)) return Error{ErrorKind::timeout, what + ": no answer in time"};
  if (auto ended = tcp_connect_end(*socket); !ended) return error_from_errno(what, ended.error().native);
  return std::move(*socket);
}

int own_port(const Socket& socket) {
  sockaddr_in place{};
  socklen_t length = sizeof place;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&place), &length) != 0) return 0;
  return ntohs(place.sin_port);
}

}  // namespace fabricgate::fabric
