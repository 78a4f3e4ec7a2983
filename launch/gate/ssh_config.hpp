#pragma once
/// The SSH configuration that mpirun's ssh runs under: the same strictness as our own connections, for the nodes of one run.
#include <string>
#include <vector>

#include "inventory/inventory.hpp"

namespace fabricgate::launch {

/// One Host block per node, by its inventory name; nothing is asked, nothing is accepted by itself.
std::string ssh_config(const Inventory& inventory);

/// Lines "name slots=1" for `hosts` in their order.
std::string hostfile(const std::vector<std::string>& hosts);

}  // namespace fabricgate::launch
