#pragma once
/// Synthetic sysfs of machines with RDMA devices, in the layout of Documentation/ABI (stable/sysfs-class-infiniband,
/// testing/sysfs-bus-pci). For tests only.
#include <map>
#include <string>

#include "inventory/host/fake_host.hpp"

namespace fabricgate {

inline void add_files(FakeHost& host, const std::string& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, value] : files) host.files[folder + "/" + name] = value + "\n";
}

/// Interface `netdev` over the PCI function `pci`, which has the driver given.
inline void add_function(FakeHost& host, const std::string& pci, const std::string& netdev, const std::string& driver) {
  const std::string folder = "/sys/bus/pci/devices/" + pci, net = "/sys/class/net/" + netdev;
  add_files(host, folder, {{"vendor", "0x15b3"}, {"net/" + netdev + "/flags", "0x1003"}});
  host.links[folder + "/driver"] = "../../../bus/pci/drivers/" + driver;
  host.links[net] = "../../devices/pci0000:17/0000:17:01.0/" + pci + "/net/" + netdev;
  add_files(host, net, {{"flags", "0x1003"}, {"carrier", "1"}, {"mtu", "9000"}, {"address", "02:00:5e:00:53:01"}});
}

/// A RoCE device over the PCI function: 200 Gb/s, entries of a link-local and of an IPv4 address, each as v1 and v2.
inline void add_roce(FakeHost& host, const std::string& device, const std::string& pci, const std::string& netdev) {
  const std::string folder = "/sys/class/infiniband/" + device, port = folder + "/ports/1";
  host.links[folder] = "../../devices/pci0000:17/0000:17:01.0/" + pci + "/infiniband/" + device;
  host.files["/sys/bus/pci/devices/" + pci + "/infiniband/" + device + "/node_type"] = "1: CA\n";
  add_files(host, folder,
            {{"node_type", "1: CA"}, {"node_guid", "0200:5e00:5300:0001"}, {"device/net/" + netdev + "/mtu", "9000"}});
  add_files(host, port,
            {{"state", "4: ACTIVE"},
             {"phys_state", "5: LinkUp"},
             {"rate", "200 Gb/sec (4X HDR)"},
             {"link_layer", "Ethernet"},
             {"lid", "0x0"},
             {"sm_lid", "0x0"},
             {"counters/symbol_error", "0"},
             {"counters/port_xmit_wait", "N/A (no PMA)"},
             {"hw_counters/local_ack_timeout_err", "7"},
             {"hw_counters/lifespan", "10"}});
  const std::string local = "fe80:0000:0000:0000:0000:5eff:fe00:5301",
                    mapped = "0000:0000:0000:0000:0000:ffff:ac10:0003";
  const std::string zero = "0000:0000:0000:0000:0000:0000:0000:0000";
  for (const auto& [index, gid] :
       std::map<int, std::string>{{0, local}, {1, local}, {2, mapped}, {10, mapped}, {11, zero}}) {
    const std::string number = std::to_string(index);
    host.files[port + "/gids/" + number] = gid + "\n";
    if (gid == zero) continue;  // reading the attributes of an empty entry gives EINVAL
    host.files[port + "/gid_attrs/types/" + number] = index == 1 || index == 10 ? "RoCE v2\n" : "IB/RoCE v1\n";
    host.files[port + "/gid_attrs/ndevs/" + number] = netdev + "\n";
  }
}

}  // namespace fabricgate
