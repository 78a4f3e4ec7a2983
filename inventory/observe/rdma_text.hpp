#pragma once
/// Text forms of RDMA attributes in sysfs. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fabricgate {

struct RdmaRate {
  double bits_per_s = 0;
  int width = 0;      ///< lanes
  std::string speed;  ///< of one lane: "SDR" … "XDR"; empty in old kernels for SDR
};

/// "200 Gb/sec (4X HDR)", "2.5 Gb/sec (1X SDR)", "10 Gb/sec (4X)". nullopt for anything else.
std::optional<RdmaRate> parse_rdma_rate(std::string_view text);

/// Zeros and colons only. An empty text is not zero: it was not read.
bool is_zero_guid(std::string_view text);

/// Address of an IPv4-mapped GID ("0000:…:ffff:0a01:0002" is 10.1.0.2), host byte order.
std::optional<std::uint32_t> gid_ipv4(std::string_view gid);
bool gid_link_local(std::string_view gid);

/// RDMA MTU of a RoCE port whose interface has this MTU: the largest of 256 … 4096 that leaves room for 96 bytes of
/// headers (GRH 40, UDP 8, BTH 12, XRC 4, atomic 28, ICRC 4; iboe_get_mtu in include/rdma/ib_addr.h of Linux). 0: none.
int roce_mtu(int netdev_mtu);

}  // namespace fabricgate
