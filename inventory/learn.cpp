#include "inventory/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "inventory/observe/software.hpp"

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

/// Virtual interfaces tell themselves apart by name alone: a bridge has a MAC as an adapter has.
bool named_as_virtual(const std::string& name) {
  constexpr std::array prefixes{"docker",  "br-",  "virbr", "lxdbr", "podman", "cni",
                                "flannel", "cali", "dummy", "tun",   "tap"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) { return name.starts_with(prefix); });
}

/// Tunnels have the four bytes of an IPv4 address or zeros there.
bool has_ethernet_address(const Netdev& netdev) {
  return netdev.mac.size() == 17 && netdev.mac.find_first_not_of("0:") != std::string::npos;
}

/// Why an interface is no rail; empty when it is one.
std::string why_not(const Facts& facts, const Netdev& netdev, const Cidr& management) {
  if (netdev.name == "lo") return "loopback";
  if (netdev.name == facts.ssh_interface || in_management(netdev, management)) return "management";
  if (!could_be_rail(facts, netdev)) return "not a physical interface";
  const PciDevice* device = find_pci(facts, netdev.pci);
  if (device != nullptr && !device->physical_function.empty())
    return "virtual function of " + device->physical_function;
  return "";
}

/// The port's state counts too: an interface that is administratively down says nothing of the cable.
bool has_link(const LearntRail& rail) {
  return rail.netdev->carrier || (rail.port != nullptr && rail.port->state == "ACTIVE");
}

/// "400 Gb/sec (4X NDR)" → 400.
double leading_number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string rate_gbps(const LearntRail& rail) {
  if (!has_link(rail)) return "CHANGE-ME";
  const double gbps = rail.netdev->speed_mbps > 0 ? static_cast<double>(rail.netdev->speed_mbps) / 1000.0
                      : rail.port != nullptr      ? leading_number(rail.port->rate)
                                                  : 0;
  return gbps > 0 ? fmt::format("{:g}", gbps) : "CHANGE-ME";
}

/// What a person has to decide before this is a rail, as a comment above it.
std::string open_points(const LearntRail& rail) {
  std::string why, fill_in;
  if (!has_link(rail)) why = rail.netdev->admin_up ? "has no carrier" : "is down";
  if (!has_link(rail)) fill_in = "rate_gbps";
  if (!first_network(*rail.netdev)) {
    why += (why.empty() ? "has" : why == "is down" ? " and has" : " and") + std::string(" no address");
    fill_in += (fill_in.empty() ? "" : " and ") + std::string("cidr");
  }
  if (why.empty()) return "";
  return fmt::format("      # {} {}: fill in {}, or remove it if it is no rail\n", rail.netdev->name, why, fill_in);
}

std::string rail_yaml(const Facts& facts, const LearntRail& rail, std::size_t index, int gpu) {
  const Netdev& netdev = *rail.netdev;
  std::string out = open_points(rail) + fmt::format("      - name: rail{}\n        netdev: {}\n", index, netdev.name);
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

/// As `rails`. An idle port, which may be no rail, takes no GPU from one that is in use.
std::vector<int> gpus_of(const Facts& facts, const std::vector<LearntRail>& rails) {
  std::vector<std::size_t> order(rails.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return has_link(rails[i]) || rails[i].port != nullptr; });
  std::vector<std::string> addresses;
  for (const std::size_t i : order) addresses.push_back(rails[i].netdev->pci);
  const std::vector<int> nearest = nearest_gpus(facts, addresses);
  std::vector<int> out(rails.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]] = nearest[i];
  return out;
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

bool could_be_rail(const Facts& facts, const Netdev& netdev) {
  if (netdev.name == "lo") return false;
  if (!netdev.pci.empty() || find_port(facts, netdev.name) != nullptr) return true;
  const bool physical =
      std::any_of(facts.netdevs.begin(), facts.netdevs.end(), [](const Netdev& n) { return !n.pci.empty(); });
  return !physical && !named_as_virtual(netdev.name) && (has_ethernet_address(netdev) || first_network(netdev));
}

std::string learn_class(const Facts& facts, const Cidr& management, const std::string& name) {
  std::vector<LearntRail> rails;
  std::string left_out, yaml;
  for (const Netdev& netdev : facts.netdevs) {
    const std::string reason = why_not(facts, netdev, management);
    if (reason.empty()) rails.push_back({&netdev, find_port(facts, netdev.name)});
    if (!reason.empty() && reason != "loopback") left_out += "    # left out: " + netdev.name + " (" + reason + ")\n";
  }
  const auto key = [](const LearntRail& rail) { return std::tie(rail.netdev->pci, rail.netdev->name); };
  std::sort(rails.begin(), rails.end(), [&](const LearntRail& a, const LearntRail& b) { return key(a) < key(b); });
  const std::vector<int> gpus = gpus_of(facts, rails);
  for (std::size_t i = 0; i < rails.size(); ++i) yaml += rail_yaml(facts, rails[i], i, gpus[i]);
  if (rails.empty()) yaml = "      - netdev: CHANGE-ME\n        rate_gbps: CHANGE-ME\n        cidr: CHANGE-ME\n";
  std::string software;
  for (const LearntRail& rail : rails)
    if (made_by_software(*rail.netdev) && software.empty())
      software = fmt::format("    # {} is made by software (driver {}), and its rate with it: such rails are judged only where the class says emulated: true\n",
                             rail.netdev->name, rail.netdev->driver);
  std::string out = fmt::format("  {}:  # from {}, {} {}, {}\n", name, facts.hostname, facts.os_id, facts.os_version,
                                facts.cpu_model);
  out += fmt::format("    gpus: {}\n{}{}    rails:\n{}", facts.gpus, left_out, software, yaml);
  if (facts.memlock_soft_bytes == UINT64_MAX) out += "    memlock: unlimited\n";
  if (!facts.kernel.empty()) out += "    kernel: \"" + facts.kernel + "\"\n";
  return out;
}

}  // namespace fabricgate
