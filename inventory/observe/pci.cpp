/// PCI functions that matter for the fabric, and the narrowest point between each and its root complex: a x16 adapter
/// below a x8 bridge never gets more than x8, which its own attributes do not show.
#include <set>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::readers {
namespace {

const std::string devices = "/sys/bus/pci/devices";

bool is_network(const PciDevice& d) {
  return d.device_class.rfind("0x02", 0) == 0;
}
bool is_gpu(const PciDevice& d) {
  return d.vendor == "0x10de" && d.device_class.rfind("0x03", 0) == 0;
}

PciDevice read_device(Host& host, const std::string& address) {
  const std::string folder = devices + "/" + address;
  PciDevice d;
  d.address = address;
  d.vendor = read_attribute(host, folder + "/vendor");
  d.device = read_attribute(host, folder + "/device");
  d.device_class = read_attribute(host, folder + "/class");
  d.driver = link_name(host, folder + "/driver");
  d.link_speed = read_attribute(host, folder + "/current_link_speed");
  d.link_width = read_attribute(host, folder + "/current_link_width");
  d.max_link_speed = read_attribute(host, folder + "/max_link_speed");
  d.max_link_width = read_attribute(host, folder + "/max_link_width");
  d.numa_node = static_cast<int>(read_number(host, folder + "/numa_node", -1));
  d.vfs_total = static_cast<int>(read_number(host, folder + "/sriov_totalvfs", 0));
  d.vfs = static_cast<int>(read_number(host, folder + "/sriov_numvfs", 0));
  d.physical_function = link_name(host, folder + "/physfn");
  return d;
}

/// A VF reports width 0 and an unknown speed, a virtual bridge 255: neither is a limit.
void narrow(PciDevice& device, const PciDevice& hop) {
  const double speed = parse_link_speed(hop.max_link_speed), least = parse_link_speed(device.path_speed);
  if (speed > 0 && (least == 0 || speed < least)) device.path_speed = hop.max_link_speed;
  const auto width = to_integer(hop.max_link_width).value_or(0), narrowest = to_integer(device.path_width).value_or(0);
  if (width > 0 && width <= 32 && (narrowest == 0 || width < narrowest)) device.path_width = hop.max_link_width;
}

}  // namespace

std::vector<PciDevice> read_pci(Host& host, Unread& unread) {
  auto addresses = host.list(devices);
  if (!addresses) {
    unread.push_back("pci: " + addresses.error().what);
    return {};
  }
  std::map<std::string, PciDevice> all;
  for (const std::string& address : *addresses) all[address] = read_device(host, address);
  std::set<std::string> wanted;
  for (auto& [address, device] : all) {
    const auto path = pci_path(host, devices + "/" + address);
    if (!path.empty()) device.above.assign(path.begin(), path.end() - 1);
    for (const std::string& hop : path)
      if (all.count(hop)) narrow(device, all[hop]);
    if (is_network(device) || is_gpu(device)) wanted.insert(address), wanted.insert(path.begin(), path.end());
  }
  std::vector<PciDevice> out;
  for (const std::string& address : wanted)
    if (all.count(address)) out.push_back(all[address]);
  return out;
}

}  // namespace fabricgate::readers
