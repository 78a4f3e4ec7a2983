#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "inventory/hostfile.hpp"
#include "results/host_range.hpp"

namespace fabricgate {
namespace {

std::string short_name(const std::string& name) {
  return name.substr(0, name.find('.'));
}

/// ssh_config expands % in paths; quotes keep spaces.
std::string quoted_path(const std::string& path) {
  std::string out = "\"";
  for (const char c : path) out.append(c == '%' ? "%%" : std::string(1, c));
  return out + '"';
}

std::string jump_host(const std::string& jump) {
  const std::size_t at = jump.find('@');
  const std::string rest = at == std::string::npos ? jump : jump.substr(at + 1);
  return rest.substr(0, rest.find(':'));
}

std::string common_settings(const Ssh& ssh) {
  std::string out = "Host *";
  if (!ssh.jump.empty()) out += " !" + jump_host(ssh.jump);
  out += "\n  User " + ssh.user + "\n  Port " + std::to_string(ssh.port) + '\n';
  if (!ssh.jump.empty()) out += "  ProxyJump " + ssh.jump + '\n';
  out += "Host *\n";
  if (!ssh.key.empty()) out += "  IdentityFile " + quoted_path(ssh.key) + "\n  IdentitiesOnly yes\n";
  if (!ssh.known_hosts.empty())
    out += "  UserKnownHostsFile " + quoted_path(ssh.known_hosts) + "\n  GlobalKnownHostsFile /dev/null\n";
  out += "  StrictHostKeyChecking yes\n  CheckHostIP no\n  UpdateHostKeys no\n  BatchMode yes\n";
  out += "  ConnectTimeout " + std::to_string(static_cast<int>(std::ceil(ssh.connect_timeout_s))) + '\n';
  return out + "  ServerAliveInterval 15\n  ControlMaster no\n  ControlPath none\n  LogLevel ERROR\n";
}

Finding bad_hostfile(const std::string& file, int line, const std::string& host, std::string expected,
                     std::string found) {
  return make_finding("launch.hostfile_invalid", {.host = host, .file = file, .line = line}, std::move(expected),
                      std::move(found));
}

/// One range where folding keeps the order, else the names as they are.
std::string in_order(const std::vector<std::string>& names) {
  const std::string folded = fold_hosts(names);
  if (const auto expanded = expand_hosts(folded); expanded && *expanded == names) return folded;
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::string class_name(const HostSlots& host) {
  return host.slots > 1 ? "slots" + std::to_string(host.slots) : "node";
}

}  // namespace

Result<std::string> write_hostfile(const Inventory& inventory) {
  std::string out = "# rank order of cluster " + inventory.cluster + "\n";
  std::unordered_map<std::string, std::string> by_short;
  const auto refuse = [](const std::string& what) { return Error{ErrorKind::parse, "hostfile: " + what, 0}; };
  for (const Node& node : inventory.nodes) {
    const auto [entry, fresh] = by_short.emplace(short_name(node.name), node.name);
    if (!fresh)
      return refuse("'" + node.name + "' has the short name of '" + entry->second + "' (launch.hostname_collision)");
    if (node.name.find(':') != std::string::npos || node.address.find(':') != std::string::npos)
      return refuse("'" + node.name + "': IPv6 addresses are not taken by every launcher");
    const NodeClass& spec = *node.spec;
    if (spec.slots != 1 && spec.slots != spec.gpus)
      return refuse("'" + node.name + "' has " + std::to_string(spec.slots) + " slots for " +
                    std::to_string(spec.gpus) + " GPUs");
    out += node.name + " slots=" + std::to_string(spec.slots) + '\n';
  }
  if (inventory.nodes.empty()) return refuse("no nodes");
  return out;
}

std::string write_ssh_config(const Inventory& inventory) {
  std::string out;
  const int port = inventory.ssh.port;
  for (const Node& node : inventory.nodes) {
    const std::string short_form = short_name(node.name);
    out += "Host " + node.name + (short_form == node.name ? "" : " " + short_form) + "\n  HostName " + node.address +
           "\n  HostKeyAlias " + (port == 22 ? node.address : '[' + node.address + "]:" + std::to_string(port)) + '\n';
  }
  return out + common_settings(inventory.ssh);
}

std::vector<Finding> compare_hostfile(const Inventory& inventory, const std::vector<HostSlots>& hosts,
                                      const std::string& file) {
  std::unordered_map<std::string, const Node*> by_name;
  for (const Node& node : inventory.nodes) {
    by_name.emplace(node.name, &node);
    by_name.emplace(short_name(node.name), &node);
    by_name.emplace(node.address, &node);
  }
  std::vector<Finding> findings;
  std::unordered_set<const Node*> seen;
  for (const HostSlots& host : hosts) {
    const auto found = by_name.find(host.name);
    if (found == by_name.end()) {
      findings.push_back(bad_hostfile(file, host.line, host.name, "a node of the inventory", host.name));
      continue;
    }
    const Node& node = *found->second;
    seen.insert(&node);
    if (host.slots_given && host.slots != 1 && host.slots != node.spec->gpus)
      findings.push_back(bad_hostfile(file, host.line, node.name,
                                      "slots=1 or slots=" + std::to_string(std::max(1, node.spec->gpus)),
                                      "slots=" + std::to_string(host.slots)));
  }
  for (const Node& node : inventory.nodes)
    if (node.required && seen.count(&node) == 0)
      findings.push_back(bad_hostfile(file, -1, node.name, node.name + " in the hostfile", "missing"));
  return findings;
}

std::string import_inventory(const std::vector<HostSlots>& hosts, const std::string& file) {
  std::string nodes;
  const auto is_address = [&](std::size_t i) { return bool(parse_ipv4(hosts[i].name)); };
  for (std::size_t begin = 0; begin < hosts.size();) {
    if (is_address(begin)) {  // a node is called by the name that its machine has
      nodes += "  - hosts: CHANGE-ME  # what `hostname -s` says there\n    address: " + hosts[begin].name +
               "\n    class: " + class_name(hosts[begin]) + '\n';
      ++begin;
      continue;
    }
    std::vector<std::string> names;
    std::size_t end = begin;
    for (; end < hosts.size() && !is_address(end) && class_name(hosts[end]) == class_name(hosts[begin]); ++end)
      names.push_back(hosts[end].name);
    nodes += "  - hosts: " + in_order(names) + "\n    class: " + class_name(hosts[begin]) + '\n';
    begin = end;
  }
  return "# From " + file +
         ". Fill in every CHANGE-ME; then `fabricgate inventory learn FILE NODE --name CLASS` writes a class from a "
         "running node.\n" +
         "schema: 1\ncluster:\n  name: CHANGE-ME\n  management_cidr: CHANGE-ME\nnodes:\n" + nodes;
}

}  // namespace fabricgate
