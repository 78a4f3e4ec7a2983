#include "fabric/link/route_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "inventory/inventory.hpp"

namespace fabricgate::fabric {
namespace {

constexpr timeval longest_wait{5, 0};

struct RouteRequest {
  nlmsghdr header{};
  rtmsg body{};
  std::array<char, 64> attributes{};

  void add(unsigned short type, const void* value, std::size_t bytes) {
    const std::size_t at = NLMSG_ALIGN(header.nlmsg_len) - NLMSG_LENGTH(sizeof body);
    rtattr attribute{};
    attribute.rta_type = type;
    attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(bytes));
    std::memcpy(attributes.data() + at, &attribute, sizeof attribute);
    std::memcpy(attributes.data() + at + RTA_LENGTH(0), value, bytes);
    header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_ALIGN(header.nlmsg_len) + RTA_ALIGN(attribute.rta_len));
  }
};

RouteRequest request_for(std::uint32_t source, std::uint32_t target) {
  RouteRequest request;
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = RTM_GETROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.rtm_family = AF_INET;
  request.body.rtm_src_len = request.body.rtm_dst_len = 32;
  const std::uint32_t from = htonl(source), to = htonl(target);
  const std::uint8_t protocol = IPPROTO_TCP;  // rules may tell protocols apart
  request.add(RTA_DST, &to, sizeof to);
  request.add(RTA_SRC, &from, sizeof from);
  request.add(RTA_IP_PROTO, &protocol, sizeof protocol);
  return request;
}

std::string text_of(const rtattr* attribute) {
  std::uint32_t address = 0;
  std::memcpy(&address, RTA_DATA(attribute), sizeof address);
  return format_ipv4(ntohl(address));
}

NextHop hop_from(const nlmsghdr* header) {
  NextHop hop;
  if (header->nlmsg_type == NLMSG_ERROR) {
    const int code = -static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error;
    hop.error = fmt::format("no route: {} ({})", std::strerror(code), code);
    return hop;
  }
  const auto* message = static_cast<const rtmsg*>(NLMSG_DATA(header));
  int left = static_cast<int>(RTM_PAYLOAD(header));
  for (const rtattr* a = RTM_RTA(message); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    std::array<char, IF_NAMESIZE> name{};
    if (a->rta_type == RTA_GATEWAY) hop.gateway = text_of(a);
    if (a->rta_type == RTA_VIA) hop.gateway = "an address that is not IPv4";
    if (a->rta_type == RTA_OIF && if_indextoname(*static_cast<const unsigned*>(RTA_DATA(a)), name.data()))
      hop.netdev = name.data();
  }
  if (hop.netdev.empty()) hop.error = "the kernel's answer names no interface";
  return hop;
}

/// Empty where there is no entry, or none of Ethernet.
std::string neighbour_of(int fd, const std::string& netdev, std::uint32_t address) {
  arpreq request{};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(address);
  std::memcpy(&request.arp_pa, &to, sizeof to);
  std::strncpy(request.arp_dev, netdev.c_str(), sizeof request.arp_dev - 1);
  if (ioctl(fd, SIOCGARP, &request) < 0 || (request.arp_flags & ATF_COM) == 0) return "";
  if (request.arp_ha.sa_family != ARPHRD_ETHER) return "";
  const auto* bytes = reinterpret_cast<const unsigned char*>(request.arp_ha.sa_data);
  return fmt::format("{:02x}", fmt::join(bytes, bytes + 6, ":"));
}

}  // namespace

Result<RouteSocket> RouteSocket::open() {
  RouteSocket out;
  out.netlink_ = Descriptor(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (out.netlink_.get() < 0) return error_from_errno("socket(NETLINK_ROUTE)", errno);
  setsockopt(out.netlink_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest_wait, sizeof longest_wait);
  out.ip_ = Descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (out.ip_.get() < 0) return error_from_errno("socket(AF_INET)", errno);
  return out;
}

NextHop RouteSocket::next_hop(std::uint32_t source, std::uint32_t target) const {
  NextHop hop;
  const RouteRequest request = request_for(source, target);
  alignas(nlmsghdr) std::array<char, 8192> buffer;
  ssize_t got = send(netlink_.get(), &request, request.header.nlmsg_len, 0);
  if (got >= 0) got = recv(netlink_.get(), buffer.data(), buffer.size(), 0);
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(rtmsg)))) {
    hop.error = error_from_errno("asking the kernel for a route", got < 0 ? errno : EPROTO).what;
    return hop;
  }
  hop = hop_from(reinterpret_cast<const nlmsghdr*>(buffer.data()));
  if (!hop.error.empty()) return hop;
  const auto gateway = parse_ipv4(hop.gateway);
  hop.mac = neighbour_of(ip_.get(), hop.netdev, gateway ? *gateway : target);
  return hop;
}

}  // namespace fabricgate::fabric
