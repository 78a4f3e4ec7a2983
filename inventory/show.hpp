#pragma once
/// What an inventory says, for people: `fabricgate inventory show`.
#include <string>

#include "inventory/inventory.hpp"

namespace fabricgate {

/// Cluster, ssh, launcher, classes with their rails, folded nodes with their address ranges, nodes with overrides.
std::string show_inventory(const Inventory& inventory);

/// One node with every rail address given out to it.
std::string show_node(const Inventory& inventory, std::size_t node);

}  // namespace fabricgate
