#pragma once
/// One port of one RDMA device, opened.
#include <infiniband/verbs.h>

#include <string>
#include <vector>

#include "fabric/verbs/failure.hpp"
#include "results/handle.hpp"

namespace fabricgate::fabric {

struct PortName {
  std::string device;
  int port = 1;
  int gid_index = -1;  ///< must be given on Ethernet
};

struct Port {
  PortName name;
  Handle<ibv_context, ibv_close_device> context;
  ibv_device_attr device{};
  ibv_port_attr attributes{};
  ibv_gid gid{};       ///< zero without an index
  int numa_node = -1;  ///< -1: not told

  bool ethernet() const { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
  /// "device mlx5_0, port 1"
  std::string text() const;
};

/// Names of all devices that verbs shows.
[[nodiscard]] Failed list_devices(std::vector<std::string>& names);

/// The port must be active and its GID entry there. Failures: rdma.no_devices, rdma.device_absent, rdma.device_denied,
/// link.down, gid.index_absent, others of failure.cpp.
[[nodiscard]] Failed open_port(const PortName& name, Port& port);

/// "fe80:0000:…" as sysfs writes it.
std::string gid_text(const ibv_gid& gid);
Result<ibv_gid> parse_gid_text(const std::string& text);

std::uint64_t mtu_bytes(ibv_mtu mtu);
const char* link_layer_text(const ibv_port_attr& attributes);

}  // namespace fabricgate::fabric
