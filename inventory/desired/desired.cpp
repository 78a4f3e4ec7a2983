#include "inventory/desired/desired.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "results/file.hpp"

namespace fabricgate {

std::uint32_t rail_address(const Rail& rail, std::size_t node) {
  if (rail.address) return *rail.address;
  return (rail.cidr.address & rail.cidr.mask()) + 1 + static_cast<std::uint32_t>(node);
}

namespace {

/// The lowest `count` bytes, highest first, as "02:0a:…".
std::string bytes_text(std::uint64_t value, int count) {
  std::string out;
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
    std::array<char, 4> text{};
    std::snprintf(text.data(), text.size(), "%02x:", static_cast<unsigned>(value >> shift & 0xff));
    out += text.data();
  }
  out.pop_back();
  return out;
}

}  // namespace

std::uint64_t first_vf_guid(const std::string& cluster, std::size_t node, std::size_t rail) {
  // node 16 bits, rail 6 and VF 10: the limits of an inventory; above them the cluster's bits, and the lowest two of the
  // first byte say "locally administered" and "one receiver"
  const std::uint64_t place = (node & 0xffff) << 16 | (rail & 0x3f) << 10;
  const std::uint64_t hash = std::stoull(sha256_hex(cluster).substr(0, 8), nullptr, 16);
  return ((hash & ~std::uint64_t{0x03000000}) | 0x02000000) << 32 | place;
}

VfIdentity vf_identity(const DesiredRail& rail, int vf) {
  const std::uint64_t guid = rail.first_vf_guid | (static_cast<std::uint64_t>(vf) & 0x3ff);
  return {bytes_text((guid >> 48) << 32 | (guid & 0xffffffff), 6), bytes_text(guid, 8)};
}

std::map<std::string, std::string> rail_sysctl(const std::string& netdev) {
  std::string name = netdev;
  std::replace(name.begin(), name.end(), '.', '/');
  const std::string prefix = "net.ipv4.conf." + name + '.';
  return {{prefix + "arp_ignore", "1"}, {prefix + "arp_announce", "2"}};
}

bool wants_kernel_cmdline(const NodeClass& spec) {
  const bool vfs = std::any_of(spec.rails.begin(), spec.rails.end(), [](const Rail& rail) { return rail.vfs > 0; });
  return spec.kernel_cmdline.value_or(spec.sriov_owner == Owner::host && vfs && !spec.emulated);
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
              .sriov_owner = spec.sriov_owner,
              .eswitch = spec.eswitch,
              .kernel_cmdline = wants_kernel_cmdline(spec),
              .rdma_namespace = spec.rdma_namespace};
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
                         .vfs = rail.vfs,
                         .vf = rail.vf});
    out.rails.back().roce = rail.roce;
    if (rail.vfs > 0) out.rails.back().first_vf_guid = first_vf_guid(inventory.cluster, node, out.rails.size() - 1);
    out.sysctl.merge(rail_sysctl(rail.netdev));  // a value written by hand stays
  }
  return out;
}

}  // namespace fabricgate
