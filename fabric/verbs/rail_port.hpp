#pragma once
/// Which device, port and GID entry carry a rail of the inventory: by sysfs, before verbs is asked.
#include <cstdint>
#include <string>

#include "fabric/verbs/port.hpp"
#include "inventory/observe/gid_choice.hpp"
#include "inventory/observe/rdma.hpp"

namespace fabricgate::fabric {

/// As declared; `address` of the rail in host byte order.
struct RailNames {
  RdmaNames names;
  std::uint32_t address = 0;
};

/// On Ethernet the one RoCE v2 entry with the rail's address and interface; on InfiniBand no entry. Failures:
/// rdma.device_absent, rdma.device_elsewhere and the gid.* causes, each naming what the table holds.
[[nodiscard]] Failed choose_port(Host& host, const RailNames& rail, PortName& name);

}  // namespace fabricgate::fabric
