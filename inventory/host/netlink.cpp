#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "inventory/host/real_host.hpp"

namespace fabricgate {
namespace {

struct Socket {
  int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
};

Status request_addresses(int fd) {
  struct {
    nlmsghdr header;
    ifaddrmsg body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETADDR;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.ifa_family = AF_UNSPEC;
  if (::send(fd, &request, sizeof request, 0) < 0) return error_from_errno("netlink send", errno);
  return {};
}

void add_address(const nlmsghdr* header, std::vector<InterfaceAddress>& out) {
  const auto* message = static_cast<const ifaddrmsg*>(NLMSG_DATA(header));
  const void* address = nullptr;
  int left = static_cast<int>(IFA_PAYLOAD(header));
  for (const rtattr* a = IFA_RTA(message); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    // IFA_ADDRESS is the peer on point-to-point links; IFA_LOCAL, where there is one, is ours
    if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && !address)) address = RTA_DATA(a);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::array<char, IF_NAMESIZE> name{};
  if (!address || !::inet_ntop(message->ifa_family, address, text.data(), text.size())) return;
  if (!::if_indextoname(message->ifa_index, name.data())) return;
  out.push_back({name.data(), text.data(), message->ifa_prefixlen});
}

}  // namespace

Result<std::vector<InterfaceAddress>> netlink_addresses() {
  const Socket socket;
  if (socket.fd < 0) return error_from_errno("netlink socket", errno);
  const timeval wait{5, 0};
  ::setsockopt(socket.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  if (auto sent = request_addresses(socket.fd); !sent) return sent.error();
  std::vector<InterfaceAddress> out;
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  for (;;) {
    const ssize_t n = ::recv(socket.fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_from_errno("netlink receive", errno);
    // not NLMSG_OK: it compares signed with unsigned
    const auto* end = buffer.data() + n;
    for (const char* at = buffer.data(); end - at >= static_cast<ssize_t>(sizeof(nlmsghdr));) {
      const auto* header = reinterpret_cast<const nlmsghdr*>(at);
      if (header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > static_cast<std::size_t>(end - at)) break;
      if (header->nlmsg_type == NLMSG_DONE) return out;
      if (header->nlmsg_type == NLMSG_ERROR) return error_from_errno("netlink address dump", EIO);
      if (header->nlmsg_type == RTM_NEWADDR) add_address(header, out);
      if (NLMSG_ALIGN(header->nlmsg_len) > static_cast<std::size_t>(end - at)) break;
      at += NLMSG_ALIGN(header->nlmsg_len);
    }
  }
}

}  // namespace fabricgate
