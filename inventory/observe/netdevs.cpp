#include <algorithm>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"
#include "inventory/observe/software.hpp"

namespace fabricgate::readers {
namespace {

constexpr int most_layers = 8;  // of VLANs on bonds on …

/// Its own, or that of an interface below it.
bool has_device(Host& host, const std::string& name, int layers = most_layers) {
  const std::string folder = "/sys/class/net/" + name, lower = "lower_";
  if (host.exists(folder + "/device")) return true;
  const auto entries = host.list(folder);
  return layers > 0 && entries && std::any_of(entries->begin(), entries->end(), [&](const std::string& entry) {
           return entry.rfind(lower, 0) == 0 && has_device(host, entry.substr(lower.size()), layers - 1);
         });
}

Netdev read_netdev(Host& host, const std::string& name) {
  const std::string folder = "/sys/class/net/" + name;
  Netdev n;
  n.name = name;
  n.mac = read_attribute(host, folder + "/address");
  n.operstate = read_attribute(host, folder + "/operstate");
  n.driver = link_name(host, folder + "/device/driver");
  if (n.driver.empty() && !has_device(host, name)) n.driver = virtual_driver;
  // a virtio or auxiliary device sits between the PCI function and the interface, so the whole path is looked at
  if (const auto path = pci_path(host, folder); !path.empty()) n.pci = path.back();
  n.admin_up = read_number(host, folder + "/flags", 0) & 1;    // IFF_UP
  n.carrier = read_number(host, folder + "/carrier", 0) == 1;  // EINVAL while administratively down
  n.speed_mbps = read_number(host, folder + "/speed", -1);
  n.mtu = static_cast<int>(read_number(host, folder + "/mtu", 0));
  n.carrier_changes = read_number(host, folder + "/carrier_changes", 0);
  n.counters = read_counters(host, folder + "/statistics");
  return n;
}

}  // namespace

std::vector<Netdev> read_netdevs(Host& host, Unread& unread) {
  auto names = host.list("/sys/class/net");
  if (!names) {
    unread.push_back("netdevs: " + names.error().what);
    return {};
  }
  std::vector<Netdev> out;
  for (const std::string& name : *names)
    if (host.exists("/sys/class/net/" + name + "/flags")) out.push_back(read_netdev(host, name));
  auto addresses = host.addresses();
  if (!addresses) {
    unread.push_back("addresses: " + addresses.error().what);
    return out;
  }
  for (Netdev& netdev : out)
    for (const InterfaceAddress& a : *addresses)
      if (a.netdev == netdev.name && a.address.find(':') == std::string::npos)
        netdev.addresses.push_back(a.address + "/" + std::to_string(a.prefix));
  return out;
}

}  // namespace fabricgate::readers
