#pragma once
/// How two processes of a benchmark meet without MPI: one TCP connection, texts with their length before them. Not for
/// the product: no node is checked, nothing is authenticated.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "fabric/rendezvous.hpp"

namespace fabricgate {

/// Rank 0 connects, rank 1 listens. Only exchange() is of use.
class SocketRendezvous final : public fabric::Rendezvous {
 public:
  /// Empty `address`: waits on the port for the other.
  SocketRendezvous(const std::string& address, int port, Deadline deadline) : rank_(address.empty() ? 1 : 0) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    (void)::inet_pton(AF_INET, address.empty() ? "0.0.0.0" : address.c_str(), &place.sin_addr);
    socket_ = address.empty() ? wait_for(place, deadline) : reach(place, deadline);
  }
  ~SocketRendezvous() override { ::close(socket_); }
  SocketRendezvous(const SocketRendezvous&) = delete;
  SocketRendezvous& operator=(const SocketRendezvous&) = delete;

  bool connected() const { return socket_ >= 0; }
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  Result<std::vector<std::optional<std::string>>> gather(const std::string&, Deadline) override {
    return unused("gather");
  }
  Result<std::string> broadcast(const std::string&, Deadline) override { return unused("broadcast"); }

  Result<std::string> exchange(int, int, const std::string& mine, Deadline deadline) override {
    std::uint64_t length = mine.size();
    if (!put(&length, sizeof length) || !put(mine.data(), mine.size()))
      return error_from_errno("send to the other end", errno);
    if (auto got = take(&length, sizeof length, deadline); !got) return got.error();
    if (length > (std::uint64_t{1} << 24)) return Error{ErrorKind::parse, "the other end speaks another language"};
    std::string theirs(length, '\0');
    if (auto got = take(theirs.data(), length, deadline); !got) return got.error();
    return theirs;
  }

 private:
  static Error unused(const char* what) {
    return {ErrorKind::bug, std::string(what) + " is not there between two ends"};
  }

  static int wait_for(const sockaddr_in& place, Deadline deadline) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
    (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int socket = -1;
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 && ::listen(listener, 1) == 0) {
      pollfd wait{listener, POLLIN, 0};
      if (::poll(&wait, 1, deadline.left_ms()) == 1) socket = ::accept(listener, nullptr, nullptr);
    }
    ::close(listener);
    return socket;
  }

  static int reach(const sockaddr_in& place, Deadline deadline) {
    while (!deadline.passed()) {
      const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) return socket;
      ::close(socket);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other end is not up yet
    }
    return -1;
  }

  bool put(const void* data, std::size_t bytes) {
    return ::send(socket_, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }

  Status take(void* data, std::size_t bytes, Deadline deadline) {
    for (std::size_t done = 0; done < bytes;) {
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, deadline.left_ms()) == 0)
        return Error{ErrorKind::timeout, "the other end did not answer in time"};
      const ssize_t got = ::recv(socket_, static_cast<char*>(data) + done, bytes - done, 0);
      if (got == 0) return Error{ErrorKind::unavailable, "the other end has gone"};
      if (got < 0 && errno != EINTR) return error_from_errno("receive from the other end", errno);
      if (got > 0) done += static_cast<std::size_t>(got);
    }
    return {};
  }

  int rank_, socket_ = -1;
};

}  // namespace fabricgate
