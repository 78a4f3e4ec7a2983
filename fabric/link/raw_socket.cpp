#include "fabric/link/raw_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "results/file.hpp"

namespace fabricgate::fabric {
namespace {

constexpr std::uint16_t protocol_arp = 0x0806, protocol_ipv4 = 0x0800;
constexpr int header_bytes = 28;  // IPv4 without options 20, ICMP echo 8
constexpr int receive_buffer_bytes = 4 << 20;

Error socket_error(const std::string& what, const std::string& netdev) {
  const int code = errno;
  Error error = error_from_errno(fmt::format("{} on {}", what, netdev), code);
  if (code == EPERM || code == EACCES) error.what += "; the reach probe needs CAP_NET_RAW (run as root)";
  return error;
}

/// "00:11:22" → bytes; empty when the text is not that.
std::vector<std::uint8_t> hardware_bytes(const std::string& netdev, const char* attribute) {
  const auto text = read_file("/sys/class/net/" + netdev + "/" + attribute);
  std::vector<std::uint8_t> bytes;
  if (!text) return bytes;
  for (std::size_t at = 0; at + 1 < text->size(); at += 3) {
    char* end = nullptr;
    const std::string part = text->substr(at, 2);
    const unsigned long value = std::strtoul(part.c_str(), &end, 16);
    if (end != part.c_str() + 2) break;
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  return bytes;
}

std::string mac_text(const std::uint8_t* bytes, std::size_t length) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out += fmt::format("{}{:02x}", i ? ":" : "", bytes[i]);
  return out;
}

void put_u16(std::vector<std::uint8_t>& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}
void put_u32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  put_u16(out, static_cast<std::uint16_t>(value >> 16));
  put_u16(out, static_cast<std::uint16_t>(value));
}
std::uint32_t get_u32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return ntohl(value);
}
std::uint16_t get_u16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
}

/// RFC 1071.
std::uint16_t internet_checksum(const std::vector<std::uint8_t>& data) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < data.size(); i += 2) sum += data[i] << 8 | (i + 1 < data.size() ? data[i + 1] : 0);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<ArpSocket> ArpSocket::open(const std::string& netdev) {
  ArpSocket out;
  out.index_ = static_cast<int>(if_nametoindex(netdev.c_str()));
  if (out.index_ == 0) return socket_error("if_nametoindex", netdev);
  out.socket_ = Descriptor(socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(protocol_arp)));
  if (out.fd() < 0) return socket_error("socket(AF_PACKET)", netdev);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol_arp);
  address.sll_ifindex = out.index_;
  if (bind(out.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    return socket_error("bind(AF_PACKET)", netdev);
  setsockopt(out.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  ifreq request{};
  std::strncpy(request.ifr_name, netdev.c_str(), IFNAMSIZ - 1);
  if (ioctl(out.fd(), SIOCGIFHWADDR, &request) < 0) return socket_error("ioctl(SIOCGIFHWADDR)", netdev);
  out.hardware_ = request.ifr_hwaddr.sa_family;
  if (out.hardware_ == ARPHRD_ETHER) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(request.ifr_hwaddr.sa_data);
    out.own_.assign(bytes, bytes + 6);
    out.broadcast_.assign(6, 0xff);
  } else {  // longer addresses do not fit into the ioctl's answer
    out.own_ = hardware_bytes(netdev, "address");
    out.broadcast_ = hardware_bytes(netdev, "broadcast");
  }
  if (out.own_.empty() || out.own_.size() != out.broadcast_.size()) {
    return Error{ErrorKind::parse, "hardware address of " + netdev + " cannot be read", 0};
  }
  return out;
}

Status ArpSocket::ask(std::uint32_t source, std::uint32_t target) const {
  std::uint8_t to[sizeof(sockaddr_ll) + 32] = {};  // sockaddr_ll ends in 8 bytes of address, InfiniBand has 20
  auto* address = reinterpret_cast<sockaddr_ll*>(to);
  address->sll_family = AF_PACKET;
  address->sll_protocol = htons(protocol_arp);
  address->sll_ifindex = index_;
  address->sll_halen = static_cast<std::uint8_t>(broadcast_.size());
  std::memcpy(to + offsetof(sockaddr_ll, sll_addr), broadcast_.data(), std::min<std::size_t>(broadcast_.size(), 32));
  const auto length =
      static_cast<socklen_t>(std::max(sizeof(sockaddr_ll), offsetof(sockaddr_ll, sll_addr) + broadcast_.size()));
  for (const std::uint32_t sender : {source, std::uint32_t{0}}) {
    std::vector<std::uint8_t> frame;
    put_u16(frame, hardware_);
    put_u16(frame, protocol_ipv4);
    frame.push_back(static_cast<std::uint8_t>(own_.size()));
    frame.push_back(4);
    put_u16(frame, ARPOP_REQUEST);
    frame.insert(frame.end(), own_.begin(), own_.end());
    put_u32(frame, sender);
    frame.insert(frame.end(), own_.size(), 0);
    put_u32(frame, target);
    if (sendto(fd(), frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(to), length) < 0) {
      return error_from_errno("sendto(ARP request)", errno);
    }
  }
  return {};
}

std::vector<ArpSocket::Answer> ArpSocket::receive() const {
  std::vector<Answer> out;
  std::uint8_t frame[512];
  for (ssize_t got = 0; (got = recv(fd(), frame, sizeof frame, 0)) > 0;) {
    if (got < 8) continue;
    const std::size_t hardware = frame[4];
    if (frame[5] != 4 || static_cast<std::size_t>(got) < 8 + 2 * (hardware + 4)) continue;
    if (get_u16(frame + 6) != ARPOP_REPLY || get_u16(frame + 2) != protocol_ipv4) continue;
    out.push_back({get_u32(frame + 8 + hardware), mac_text(frame + 8, hardware)});
  }
  return out;
}

Result<EchoSocket> EchoSocket::open(const std::string& netdev) {
  static std::atomic<std::uint16_t> counter{0};
  EchoSocket out;
  out.socket_ = Descriptor(socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (out.fd() < 0) return socket_error("socket(ICMP)", netdev);
  if (setsockopt(out.fd(), SOL_SOCKET, SO_BINDTODEVICE, netdev.c_str(), static_cast<socklen_t>(netdev.size() + 1)) <
      0) {
    return socket_error("setsockopt(SO_BINDTODEVICE)", netdev);
  }
  // PROBE sets "don't fragment" and ignores a smaller path MTU learnt before: the frame itself must find out
  const int discover = IP_PMTUDISC_PROBE;
  if (setsockopt(out.fd(), IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) < 0) {
    return socket_error("setsockopt(IP_MTU_DISCOVER)", netdev);
  }
  setsockopt(out.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  out.id_ = static_cast<std::uint16_t>(getpid() * 31 + ++counter);
  return out;
}

Status EchoSocket::send(std::uint32_t target, std::uint16_t sequence, int bytes) const {
  std::vector<std::uint8_t> packet{ICMP_ECHO, 0, 0, 0};
  put_u16(packet, id_);
  put_u16(packet, sequence);
  packet.resize(static_cast<std::size_t>(std::max(bytes, header_bytes) - 20));
  const std::uint16_t sum = internet_checksum(packet);
  packet[2] = static_cast<std::uint8_t>(sum >> 8);
  packet[3] = static_cast<std::uint8_t>(sum);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(target);
  if (sendto(fd(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0) {
    return error_from_errno(fmt::format("sendto(ICMP echo of {} bytes)", bytes), errno);
  }
  return {};
}

std::vector<EchoSocket::Answer> EchoSocket::receive() const {
  std::vector<Answer> out;
  std::vector<std::uint8_t> packet(65536);
  for (ssize_t got = 0; (got = recv(fd(), packet.data(), packet.size(), 0)) > 0;) {
    const std::size_t header = (packet[0] & 15U) * 4U;
    if (static_cast<std::size_t>(got) < header + 8) continue;
    const std::uint8_t* icmp = packet.data() + header;
    if (icmp[0] != ICMP_ECHOREPLY || get_u16(icmp + 4) != id_) continue;
    out.push_back({get_u32(packet.data() + 12), get_u16(icmp + 6)});
  }
  return out;
}

}  // namespace fabricgate::fabric
