// Who uses VFs: taking one away, or its driver, pulls the network from under them.
#include <algorithm>

#include "bootstrap/steps/virtual_functions.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

/// An address that somebody gave it: the kernel itself gives a link-local one to everything that is up.
std::string given_address(Host& host, const std::string& netdev) {
  auto addresses = host.addresses();
  if (!addresses) return "";
  for (const InterfaceAddress& a : *addresses)
    if (a.netdev == netdev && a.address.rfind("fe80:", 0) != 0) return a.address + "/" + std::to_string(a.prefix);
  return "";
}

/// The verbs device file of an RDMA device.
std::string verbs_file(Host& host, const std::string& device) {
  const std::string folder = "/sys/class/infiniband_verbs";
  auto names = host.list(folder);
  if (!names || device.empty()) return "";
  for (const std::string& name : *names)
    if (readers::read_attribute(host, folder + "/" + name + "/ibdev") == device) return "/dev/infiniband/" + name;
  return "";
}

std::string user_of(Host& host, const SeenVf& vf, const std::map<std::string, std::string>& holders) {
  const auto holder = [&](const std::string& file) {
    const auto found = holders.find(file);
    return found == holders.end() ? "" : ", process " + found->second;
  };
  if (handed_on(vf))
    return "handed on through " + vf.driver +
           holder("/dev/vfio/" + readers::link_name(host, "/sys/bus/pci/devices/" + vf.pci + "/iommu_group"));
  if (const std::string text = holder(verbs_file(host, vf.device)); !text.empty())
    return "RDMA device " + vf.device + " is open" + text;
  if (vf.netdev.empty()) return vf.made_interface ? "its interface is in another network namespace" : "";
  if (const std::string master = readers::link_name(host, "/sys/class/net/" + vf.netdev + "/master"); !master.empty())
    return vf.netdev + " belongs to " + master;
  if (const std::string address = given_address(host, vf.netdev); !address.empty())
    return vf.netdev + " has the address " + address;
  return "";
}

}  // namespace

bool handed_on(const SeenVf& vf) {
  return vf.driver == "vfio-pci" || vf.driver == "uio_pci_generic" || vf.driver == "igb_uio";
}

void see_users(Host& host, SeenFunction& function) {
  if (function.vfs.empty()) return;
  const auto holders = readers::read_file_holders(host, {"/dev/infiniband/", "/dev/vfio/"});
  for (SeenVf& vf : function.vfs) vf.user = user_of(host, vf, holders);
}

}  // namespace fabricgate::bootstrap
