#include "inventory/desired/desired.hpp"

#include <algorithm>

namespace fabricgate {

std::uint32_t rail_address(const Rail& rail, std::size_t node) {
  if (rail.address) return *rail.address;
  return (rail.cidr.address & rail.cidr.mask()) + 1 + static_cast<std::uint32_t>(node);
}

std::map<std::string, std::string> rail_sysctl(const std::string& netdev) {
  std::string name = netdev;
  std::replace(name.begin(), name.end(), '.', '/');
  const std::string prefix = "net.ipv4.conf." + name + '.';
  return {{prefix + "arp_ignore", "1"}, {prefix + "arp_announce", "2"}};
}

Desired desired(const Inventory& inventory, std::size_t node) {
  const Node& machine = inventory.nodes.at(node);
  const NodeClass& spec = *machine.spec;
  Desired out{.node = machine.name,
              .management_address = machine.address,
              .management = inventory.management,
              .install_dir = inventory.launcher.install_dir,
              .spool_dir = inventory.launcher.spool_dir,
              .mpi_prefix = inventory.launcher.mpi_prefix,
              .memlock_bytes = spec.memlock_bytes,
              .packages = spec.packages,
              .sysctl = spec.sysctl,
              .modules = spec.modules,
              .manage = spec.manage,
              .driver = spec.driver,
              .sriov_owner = spec.sriov_owner};
  for (const Rail& rail : spec.rails) {
    out.rails.push_back({.name = rail.name,
                         .netdev = rail.netdev,
                         .device = rail.device,
                         .pci = rail.pci,
                         .address = rail_address(rail, node),
                         .prefix = rail.cidr.prefix,
                         .mtu = rail.mtu,
                         .rate_bits_per_s = rail.rate_bits_per_s,
                         .link_layer = rail.link_layer,
                         .vfs = rail.vfs});
    out.sysctl.merge(rail_sysctl(rail.netdev));  // a value written by hand stays
  }
  return out;
}

}  // namespace fabricgate
