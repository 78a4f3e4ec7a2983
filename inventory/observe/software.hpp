#pragma once
/// Interfaces that no wire is behind.
#include "inventory/observe/facts.hpp"

namespace fabricgate {

/// By its driver: veth, bridge, rxe, …
bool made_by_software(const Netdev& netdev);

}  // namespace fabricgate
