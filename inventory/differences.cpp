#include <algorithm>
#include <cstdlib>

#include "inventory/learn.hpp"

namespace fabricgate {
namespace {

/// Installed memory differs by a few MiB between equal machines (firmware reservations).
constexpr double memory_share = 0.01;

using Values = std::map<std::string, std::string>;

std::string limit_text(std::uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes);
}

Values node_values(const Facts& facts) {
  Values out{{"os", facts.os_id + ' ' + facts.os_version}, {"kernel", facts.kernel},
             {"architecture", facts.architecture},         {"cpu model", facts.cpu_model},
             {"cpus", std::to_string(facts.cpus)},         {"numa nodes", std::to_string(facts.numa_nodes)},
             {"gpus", std::to_string(facts.gpus)},         {"memlock", limit_text(facts.memlock_soft_bytes)}};
  for (const auto& [name, version] : facts.versions) out["version of " + name] = version;
  for (const auto& [key, value] : facts.sysctl) out["sysctl " + key] = value;
  return out;
}

/// Interfaces, RDMA devices and the PCI devices themselves, each value under a name that says what it is.
Values device_values(const Facts& facts) {
  Values out;
  for (const Netdev& netdev : facts.netdevs) {
    if (!could_be_rail(facts, netdev)) continue;
    const std::string of = " of " + netdev.name;
    out["pci" + of] = netdev.pci;
    out["driver" + of] = netdev.driver;
    out["mtu" + of] = std::to_string(netdev.mtu);
    out["speed in Mb/s" + of] = std::to_string(netdev.speed_mbps);
    out["carrier" + of] = netdev.carrier ? "yes" : "no";
  }
  for (const RdmaPort& port : facts.rdma_ports) {
    const std::string of = " of " + port.device + " port " + std::to_string(port.port);
    out["netdev" + of] = port.netdev;
    out["state" + of] = port.state;
    out["rate" + of] = port.rate;
    out["link layer" + of] = port.link_layer;
  }
  for (const PciDevice& device : facts.pci) {
    const std::string of = " of " + device.address;
    out["device" + of] = device.vendor + ':' + device.device;
    out["link" + of] = device.link_speed + " x" + device.link_width;
    out["numa node" + of] = std::to_string(device.numa_node);
    out["vfs" + of] = std::to_string(device.vfs);
  }
  return out;
}

void compare(const Values& reference, const Values& other, std::vector<std::string>& out) {
  for (const auto& [name, value] : reference) {
    const auto found = other.find(name);
    if (found == other.end()) {
      out.push_back(name + ": " + value + ", here missing");
    } else if (found->second != value) {
      out.push_back(name + ": " + value + ", here " + found->second);
    }
  }
  for (const auto& [name, value] : other)
    if (reference.count(name) == 0) out.push_back(name + ": none, here " + value);
}

}  // namespace

std::vector<std::string> differences(const Facts& reference, const Facts& other) {
  std::vector<std::string> out;
  compare(node_values(reference), node_values(other), out);
  const double more = static_cast<double>(std::max(reference.memory_bytes, other.memory_bytes));
  if (static_cast<double>(std::abs(reference.memory_bytes - other.memory_bytes)) > memory_share * more)
    out.push_back("memory in bytes: " + std::to_string(reference.memory_bytes) + ", here " +
                  std::to_string(other.memory_bytes));
  compare(device_values(reference), device_values(other), out);
  return out;
}

}  // namespace fabricgate
