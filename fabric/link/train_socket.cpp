#include "fabric/link/train_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "results/file.hpp"

namespace fabricgate::fabric {
namespace {

Error socket_error(const std::string& what, const std::string& netdev) {
  return error_from_errno(fmt::format("{} on {}", what, netdev), errno);
}

/// Beyond net.core.rmem_max and wmem_max where we may.
void set_buffer(int fd, int force, int plain, int bytes) {
  if (setsockopt(fd, SOL_SOCKET, force, &bytes, sizeof bytes) < 0)
    setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

sockaddr_in address_of(std::uint32_t address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address);
  out.sin_port = htons(port);
  return out;
}

}  // namespace

Result<TrainSocket> TrainSocket::open(const std::string& netdev, std::uint32_t source, int receive_buffer_bytes) {
  TrainSocket out;
  out.socket_ = Descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (out.fd() < 0) return socket_error("socket(UDP)", netdev);
  const auto length = static_cast<socklen_t>(netdev.size() + 1);
  if (setsockopt(out.fd(), SOL_SOCKET, SO_BINDTODEVICE, netdev.c_str(), length) < 0)
    return socket_error("setsockopt(SO_BINDTODEVICE)", netdev);
  const int discover = IP_PMTUDISC_PROBE, yes = 1;
  if (setsockopt(out.fd(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) < 0)
    return socket_error("setsockopt(IP_MTU_DISCOVER)", netdev);
  // without it the kernel says "sent" of a packet that its own queue threw away
  if (setsockopt(out.fd(), IPPROTO_IP, IP_RECVERR, &yes, sizeof yes) < 0)
    return socket_error("setsockopt(IP_RECVERR)", netdev);
  set_buffer(out.fd(), SO_RCVBUFFORCE, SO_RCVBUF, receive_buffer_bytes);
  set_buffer(out.fd(), SO_SNDBUFFORCE, SO_SNDBUF, 4 << 20);
  sockaddr_in own = address_of(source, 0);
  socklen_t size = sizeof own;
  if (bind(out.fd(), reinterpret_cast<sockaddr*>(&own), size) < 0)
    return socket_error("bind(" + std::string(inet_ntoa(own.sin_addr)) + ")", netdev);
  if (getsockname(out.fd(), reinterpret_cast<sockaddr*>(&own), &size) < 0) return socket_error("getsockname", netdev);
  out.port_ = ntohs(own.sin_port);
  return out;
}

Result<bool> TrainSocket::send(std::uint32_t target, std::uint16_t port,
                               const std::vector<std::uint8_t>& payload) const {
  const sockaddr_in to = address_of(target, port);
  if (sendto(fd(), payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) >= 0)
    return true;
  // refused and unreachable are answers to earlier packets, handed out by the next call
  const int code = errno;
  for (const int passing : {EAGAIN, ENOBUFS, EINTR, ECONNREFUSED, EHOSTUNREACH})
    if (code == passing) return false;
  return error_from_errno(fmt::format("sendto(UDP packet of {} bytes)", payload.size() + 28), code);
}

std::vector<std::uint8_t> TrainSocket::receive(std::size_t head_bytes) const {
  std::vector<std::uint8_t> head(head_bytes);
  ssize_t got = recv(fd(), head.data(), head.size(), 0);
  if (got < 0 && errno != EAGAIN && errno != EINTR) {  // an ICMP error: take it out of its queue, or poll never rests
    std::uint8_t scrap[512];
    while (recv(fd(), scrap, sizeof scrap, MSG_ERRQUEUE) >= 0) continue;
    got = recv(fd(), head.data(), head.size(), 0);
  }
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return head;
}

std::uint64_t TrainSocket::dropped() const {
  std::uint32_t values[SK_MEMINFO_VARS] = {};
  socklen_t size = sizeof values;
  if (getsockopt(fd(), SOL_SOCKET, SO_MEMINFO, values, &size) < 0 || size <= SK_MEMINFO_DROPS * sizeof values[0])
    return 0;
  return values[SK_MEMINFO_DROPS];
}

std::uint64_t backlog_drops_in(const std::string& text) {
  std::uint64_t sum = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string processed, dropped;
    if (words >> processed >> dropped) sum += std::strtoull(dropped.c_str(), nullptr, 16);
  }
  return sum;
}

std::uint64_t backlog_drops() {
  const auto text = read_file("/proc/net/softnet_stat");
  return text ? backlog_drops_in(*text) : 0;
}

}  // namespace fabricgate::fabric
