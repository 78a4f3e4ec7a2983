#include "inventory/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inventory/desired/desired.hpp"
#include "results/host_range.hpp"

namespace fabricgate {
namespace {

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string memlock_text(const NodeClass& spec) {
  if (!spec.memlock_bytes) return "not demanded";
  return *spec.memlock_bytes == UINT64_MAX ? "unlimited" : std::to_string(*spec.memlock_bytes) + " bytes";
}

std::string driver_text(const DriverSpec& driver) {
  std::string out = to_string(driver.owner);
  for (const std::string& part : {driver.source, driver.version}) out += part.empty() ? "" : ' ' + part;
  return out;
}

std::string show_rail(const Rail& rail) {
  return fmt::format("    {:<10} {:<15} {:<8} {:<12} gpu {:<3} {:<10} {:>6g} Gb/s  mtu {:<5} {:<18} vfs {} {}\n",
                     rail.name, rail.netdev, or_dash(rail.device), or_dash(rail.pci),
                     rail.gpu < 0 ? "-" : std::to_string(rail.gpu), to_string(rail.link_layer),
                     rail.rate_bits_per_s / 1e9, rail.mtu, format_cidr(rail.cidr), rail.vfs, rail.leaf);
}

/// In the order given: addresses and ranks stand beside these names.
std::string fold_in_order(const std::vector<std::string>& names) {
  const std::string folded = fold_hosts(names);
  const auto again = expand_hosts(folded);
  if (again && *again == names) return folded;
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::string show_class(const NodeClass& spec, const std::vector<const Node*>& nodes) {
  std::vector<std::string> names;
  for (const Node* node : nodes) names.push_back(node->name);
  std::string out =
      fmt::format("class {}: {} node{} {}\n", spec.name, nodes.size(), nodes.size() == 1 ? "" : "s", fold_hosts(names));
  out += fmt::format("    {}{}, {} gpus, {} slot{}, memlock {}, driver {}, sriov {}\n", to_string(spec.role),
                     spec.emulated ? ", emulated" : "", spec.gpus, spec.slots, spec.slots == 1 ? "" : "s",
                     memlock_text(spec), driver_text(spec.driver), to_string(spec.sriov_owner));
  for (const Rail& rail : spec.rails) out += show_rail(rail);
  return out;
}

/// Nodes that follow one another with the same class, rack and necessity.
std::string show_run(const Inventory& inventory, std::size_t begin, std::size_t end) {
  const Node &first = inventory.nodes[begin], &last = inventory.nodes[end - 1];
  std::vector<std::string> names;
  for (std::size_t i = begin; i < end; ++i) names.push_back(inventory.nodes[i].name);
  const std::string addresses = end - begin == 1 ? first.address : first.address + " … " + last.address;
  std::string out = fmt::format("  {:<24} {:<12} rack {:<8} {:<28}", fold_in_order(names), first.spec->name,
                                or_dash(first.rack), addresses);
  for (const Rail& rail : first.spec->rails) out += ' ' + rail.name + ' ' + format_ipv4(rail_address(rail, begin));
  return out + (first.required ? "" : " (optional)") + '\n';
}

bool same_run(const Node& a, const Node& b) {
  return a.spec == b.spec && a.rack == b.rack && a.required == b.required;
}

std::string show_head(const Inventory& inventory) {
  const Ssh& ssh = inventory.ssh;
  std::string out =
      fmt::format("cluster {}: {} nodes, management {}, suite {}{}\n", inventory.cluster, inventory.nodes.size(),
                  format_cidr(inventory.management), inventory.suite, inventory.emulated() ? ", emulated" : "");
  out += fmt::format("ssh user {}, port {}, key {}, known hosts {}, jump {}, {} nodes at once\n", ssh.user, ssh.port,
                     or_dash(ssh.key), or_dash(ssh.known_hosts), or_dash(ssh.jump), ssh.window);
  out += fmt::format("open mpi {}, ports {}, install {}, spool {}\n", inventory.launcher.mpi_prefix,
                     inventory.launcher.ports.empty() ? "any" : inventory.launcher.ports,
                     inventory.launcher.install_dir, inventory.launcher.spool_dir);
  if (inventory.kubernetes)
    out += fmt::format("kubernetes context {}, operator {}, namespace {}, ipam {}\n",
                       or_dash(inventory.kubernetes->context), or_dash(inventory.kubernetes->operator_release),
                       inventory.kubernetes->name_space, inventory.kubernetes->ipam);
  return out;
}

}  // namespace

std::string show_inventory(const Inventory& inventory) {
  std::vector<std::pair<const NodeClass*, std::vector<const Node*>>> classes;  // in order of first use
  std::map<const NodeClass*, std::size_t> position;
  for (const Node& node : inventory.nodes) {
    const auto [entry, fresh] = position.emplace(node.spec.get(), classes.size());
    if (fresh) classes.push_back({node.spec.get(), {}});
    classes[entry->second].second.push_back(&node);
  }
  std::string out = show_head(inventory);
  for (const auto& [spec, nodes] : classes) out += show_class(*spec, nodes);
  out += "nodes in rank order, with the addresses of the first:\n";
  for (std::size_t begin = 0, end = 0; begin < inventory.nodes.size(); begin = end) {
    end = begin + 1;
    while (end < inventory.nodes.size() && same_run(inventory.nodes[begin], inventory.nodes[end])) ++end;
    out += show_run(inventory, begin, end);
  }
  return out;
}

std::string show_node(const Inventory& inventory, std::size_t node) {
  const Node& machine = inventory.nodes.at(node);
  std::string out = fmt::format("{}: class {}, rank {}, address {}, rack {}{}\n", machine.name, machine.spec->name,
                                node, machine.address, or_dash(machine.rack), machine.required ? "" : ", optional");
  for (const DesiredRail& rail : desired(inventory, node).rails)
    out += fmt::format("  {:<10} {:<15} {:<8} {}/{} mtu {}\n", rail.name, rail.netdev, or_dash(rail.device),
                       format_ipv4(rail.address), rail.prefix, rail.mtu);
  return out;
}

}  // namespace fabricgate
