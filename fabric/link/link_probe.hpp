#pragma once
/// Reads one network interface as the kernel shows it.
#include <string>

#include "fabric/link/link_sample.hpp"
#include "inventory/host/host.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

/// From /sys/class/net/<netdev> of `host`; IPv4 addresses ("10.0.0.1/24") by `ip -o -4 addr show dev <netdev>`. An
/// absent interface gives present = false; a value the driver refuses to tell keeps its "unknown".
LinkState read_link(Host& host, const std::string& netdev, Deadline deadline);

}  // namespace fabricgate::fabric
