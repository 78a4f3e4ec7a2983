#include "suites/checks/host_hardware.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace fabricgate::suites {
namespace {

const PciDevice* function_of(const Facts& facts, const std::string& address) {
  for (const PciDevice& device : facts.pci)
    if (!address.empty() && device.address == address) return &device;
  return nullptr;
}

/// Declared, or the interface's; of a VF its physical function, which has the link.
const PciDevice* rail_function(const Facts& facts, const DesiredRail& rail) {
  std::string address = rail.pci;
  for (const Netdev& netdev : facts.netdevs)
    if (address.empty() && netdev.name == rail.netdev) address = netdev.pci;
  const PciDevice* device = function_of(facts, address);
  return device == nullptr || device->physical_function.empty() ? device : function_of(facts, device->physical_function);
}

struct LinkWidth {
  double speed = 0;
  int width = 0;

  bool known() const { return speed > 0 && width > 0 && width <= 32; }  // virtual bridges say 255, VFs 0
  bool below(const LinkWidth& other) const { return speed < other.speed || width < other.width; }
  friend bool operator==(const LinkWidth&, const LinkWidth&) = default;
};

LinkWidth link_width(const std::string& speed, const std::string& width) { return {std::atof(speed.c_str()), std::atoi(width.c_str())}; }

/// Every link between the adapter and the root must carry what the smallest maximum of the path allows. Both ends of a link
/// report it: the lower one is named.
void judge_path(const Facts& facts, const PciDevice& adapter, Subject subject, std::vector<Finding>& findings) {
  const LinkWidth least = link_width(adapter.path_speed, adapter.path_width);
  if (!least.known()) return;
  std::vector<std::string> path = adapter.above;
  path.push_back(adapter.address);
  LinkWidth told;
  for (auto address = path.rbegin(); address != path.rend(); ++address) {
    const PciDevice* hop = function_of(facts, *address);
    if (hop == nullptr) continue;
    const LinkWidth now = link_width(hop->link_speed, hop->link_width);
    const bool other_end = now == told;
    told = {};
    if (!now.known() || !now.below(least) || other_end) continue;
    told = now;
    subject.pci = *address;
    findings.push_back(make_finding("pcie.link_degraded", subject, adapter.path_speed + " x" + adapter.path_width, hop->link_speed + " x" + hop->link_width));
  }
}

bool is_adapter(const PciDevice& device) {
  const bool network = device.device_class.rfind("0x0200", 0) == 0 || device.device_class.rfind("0x0207", 0) == 0;
  return network && device.physical_function.empty();
}

/// Functions of one adapter may share one RDMA device (RoCE LAG), so an adapter is asked, not a function.
bool has_rdma(const Facts& facts, const std::string& address) {
  const std::string adapter = address.substr(0, address.find('.'));
  return std::any_of(facts.rdma_ports.begin(), facts.rdma_ports.end(), [&](const RdmaPort& port) { return port.pci.substr(0, port.pci.find('.')) == adapter; });
}

void judge_sisters(const Desired& want, const Facts& facts, std::vector<Finding>& findings) {
  std::set<std::string> rails, vendors, drivers;
  for (const DesiredRail& rail : want.rails) {
    const PciDevice* device = rail.device.empty() ? nullptr : rail_function(facts, rail);
    if (device == nullptr) continue;
    rails.insert(device->address);
    vendors.insert(device->vendor);
    if (has_rdma(facts, device->address)) drivers.insert(device->driver);
  }
  for (const PciDevice& device : facts.pci) {
    if (!is_adapter(device) || vendors.count(device.vendor) == 0 || rails.count(device.address) != 0) continue;
    const bool useless = drivers.count(device.driver) != 0 && !has_rdma(facts, device.address);
    if (!device.driver.empty() && !useless) continue;
    findings.push_back(make_finding("rdma.function_unused", {.host = want.node, .pci = device.address}, "a driver and an RDMA device, as the rails have",
                                    device.driver.empty() ? "no driver" : "driver " + device.driver + ", no RDMA device"));
  }
}

}  // namespace

void judge_hardware(const Desired& want, const Facts& facts, std::vector<Finding>& findings) {
  for (const DesiredRail& rail : want.rails)
    if (const PciDevice* adapter = rail_function(facts, rail))
      judge_path(facts, *adapter, {.host = want.node, .netdev = rail.netdev, .rail = rail.name}, findings);
  judge_sisters(want, facts, findings);
}

}  // namespace fabricgate::suites
