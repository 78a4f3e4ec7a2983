#pragma once
/// Interfaces that no wire is behind.
#include "inventory/observe/facts.hpp"

namespace fabricgate {

/// Netdev::driver of an interface that names none and has no device, nor has any below it: veth, dummy, tun, a VLAN of such …
inline constexpr const char* virtual_driver = "virtual";

/// By its driver: that, or what records of older versions name: veth, bridge, rxe, …
bool made_by_software(const Netdev& netdev);

}  // namespace fabricgate
