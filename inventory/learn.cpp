#include "inventory/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <tuple>

namespace fabricgate {
namespace {

struct LearntRail {
  const Netdev* netdev = nullptr;
  const RdmaPort* port = nullptr;
};

const PciDevice* find_pci(const Facts& facts, const std::string& address) {
  for (const PciDevice& device : facts.pci)
    if (!address.empty() && device.address == address) return &device;
  return nullptr;
}

const RdmaPort* find_port(const Facts& facts, const std::string& netdev) {
  for (const RdmaPort& port : facts.rdma_ports)
    if (port.netdev == netdev) return &port;
  return nullptr;
}

std::optional<Cidr> first_network(const Netdev& netdev) {
  for (const std::string& text : netdev.addresses)
    if (const auto cidr = parse_cidr(text); cidr && cidr->prefix >= 1 && cidr->prefix <= 30)
      return Cidr{.address = cidr->address & cidr->mask(), .prefix = cidr->prefix};
  return std::nullopt;
}

bool in_management(const Netdev& netdev, const Cidr& management) {
  return std::any_of(netdev.addresses.begin(), netdev.addresses.end(), [&](const std::string& text) {
    const auto cidr = parse_cidr(text);
    return cidr && management.contains(cidr->address);
  });
}

/// Why an interface is no rail; empty when it is one. Machines without any PCI interface (containers, emulated nodes)
/// take the ones with an address instead.
std::string why_not(const Facts& facts, const Netdev& netdev, const Cidr& management, bool physical) {
  if (netdev.name == "lo") return "loopback";
  if (netdev.name == facts.ssh_interface || in_management(netdev, management)) return "management";
  if (physical && netdev.pci.empty()) return "not a physical interface";
  if (!physical && !first_network(netdev)) return "no address";
  const PciDevice* device = find_pci(facts, netdev.pci);
  if (device != nullptr && !device->physical_function.empty())
    return "virtual function of " + device->physical_function;
  if (!netdev.carrier && find_port(facts, netdev.name) == nullptr) return "no carrier";
  return "";
}

/// "400 Gb/sec (4X NDR)" → 400.
double leading_number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string rate_gbps(const LearntRail& rail) {
  const double gbps = rail.netdev->speed_mbps > 0 ? static_cast<double>(rail.netdev->speed_mbps) / 1000.0
                      : rail.port != nullptr      ? leading_number(rail.port->rate)
                                                  : 0;
  return gbps > 0 ? fmt::format("{:g}", gbps) : "CHANGE-ME";
}

std::string rail_yaml(const Facts& facts, const LearntRail& rail, std::size_t index, int gpu) {
  const Netdev& netdev = *rail.netdev;
  std::string out = fmt::format("      - name: rail{}\n        netdev: {}\n", index, netdev.name);
  if (rail.port != nullptr) out += "        device: " + rail.port->device + '\n';
  if (!netdev.pci.empty()) out += "        pci: \"" + netdev.pci + "\"\n";
  if (gpu >= 0) out += fmt::format("        gpu: {}\n", gpu);
  if (rail.port != nullptr && rail.port->link_layer == "InfiniBand") out += "        link_layer: infiniband\n";
  out += "        rate_gbps: " + rate_gbps(rail) + '\n';
  if (netdev.mtu > 0) out += fmt::format("        mtu: {}\n", netdev.mtu);
  const auto network = first_network(netdev);
  out += "        cidr: " + (network ? format_cidr(*network) : std::string("CHANGE-ME")) + '\n';
  const PciDevice* device = find_pci(facts, netdev.pci);
  if (device != nullptr && device->vfs > 0) out += fmt::format("        vfs: {}\n", device->vfs);
  return out;
}

struct PciPlace {
  std::uint32_t domain = 0, bus = 0;
};

/// Hexadecimal fields of "0000:18:00.0"; zeros when it is something else.
PciPlace place_of(const std::string& address) {
  PciPlace place;
  if (address.size() < 7) return place;
  const char* text = address.data();
  std::from_chars(text, text + 4, place.domain, 16);
  std::from_chars(text + 5, text + 7, place.bus, 16);
  return place;
}

bool is_gpu(const PciDevice& device) {
  return device.vendor == "0x10de" && device.device_class.compare(0, 4, "0x03") == 0;
}

/// NUMA difference, domain difference, bus distance; smaller is nearer.
std::tuple<bool, bool, std::uint32_t> distance(const PciDevice* nic, const std::string& address, const PciDevice& gpu) {
  const PciPlace a = place_of(address), b = place_of(gpu.address);
  const bool other_numa =
      nic != nullptr && nic->numa_node >= 0 && gpu.numa_node >= 0 && nic->numa_node != gpu.numa_node;
  return {other_numa, a.domain != b.domain, a.bus > b.bus ? a.bus - b.bus : b.bus - a.bus};
}

}  // namespace

std::vector<int> nearest_gpus(const Facts& facts, const std::vector<std::string>& pci_addresses) {
  std::vector<const PciDevice*> gpus;
  for (const PciDevice& device : facts.pci)
    if (is_gpu(device)) gpus.push_back(&device);
  std::sort(gpus.begin(), gpus.end(), [](const PciDevice* a, const PciDevice* b) { return a->address < b->address; });
  std::vector<int> out, used(gpus.size(), 0);
  for (const std::string& address : pci_addresses) {
    const PciDevice* nic = find_pci(facts, address);
    int best = -1;
    for (std::size_t i = 0; i < gpus.size() && !address.empty(); ++i) {
      const auto key = [&](std::size_t gpu) { return std::pair(used[gpu], distance(nic, address, *gpus[gpu])); };
      if (best < 0 || key(i) < key(static_cast<std::size_t>(best))) best = static_cast<int>(i);
    }
    if (best >= 0) ++used[static_cast<std::size_t>(best)];
    out.push_back(best);
  }
  return out;
}

std::string learn_class(const Facts& facts, const Cidr& management, const std::string& name) {
  const bool physical =
      std::any_of(facts.netdevs.begin(), facts.netdevs.end(), [](const Netdev& n) { return !n.pci.empty(); });
  std::vector<LearntRail> rails;
  std::string left_out, yaml;
  for (const Netdev& netdev : facts.netdevs) {
    const std::string reason = why_not(facts, netdev, management, physical);
    if (reason.empty()) rails.push_back({&netdev, find_port(facts, netdev.name)});
    if (!reason.empty() && reason != "loopback") left_out += "    # left out: " + netdev.name + " (" + reason + ")\n";
  }
  const auto key = [](const LearntRail& rail) { return std::tie(rail.netdev->pci, rail.netdev->name); };
  std::sort(rails.begin(), rails.end(), [&](const LearntRail& a, const LearntRail& b) { return key(a) < key(b); });
  std::vector<std::string> addresses;
  for (const LearntRail& rail : rails) addresses.push_back(rail.netdev->pci);
  const std::vector<int> gpus = nearest_gpus(facts, addresses);
  for (std::size_t i = 0; i < rails.size(); ++i) yaml += rail_yaml(facts, rails[i], i, gpus[i]);
  if (rails.empty()) yaml = "      - netdev: CHANGE-ME\n        rate_gbps: CHANGE-ME\n        cidr: CHANGE-ME\n";
  std::string out = fmt::format("  {}:  # from {}, {} {}, {}\n", name, facts.hostname, facts.os_id, facts.os_version,
                                facts.cpu_model);
  out += fmt::format("    gpus: {}\n{}    rails:\n{}", facts.gpus, left_out, yaml);
  if (facts.memlock_soft_bytes == UINT64_MAX) out += "    memlock: unlimited\n";
  if (!facts.kernel.empty()) out += "    kernel: \"" + facts.kernel + "\"\n";
  return out;
}

}  // namespace fabricgate
