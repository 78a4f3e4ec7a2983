#include <algorithm>

#include "bootstrap/steps/persist.hpp"
#include "bootstrap/steps/virtual_functions.hpp"
#include "inventory/logs/ip_link.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/rdma.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using readers::link_name;
using readers::read_attribute;
using readers::read_number;

std::string folder_of(const std::string& pci) {
  return "/sys/bus/pci/devices/" + pci;
}

/// "0000:01:10.2" from domain and routing id.
std::string pci_address(const std::string& domain, int id) {
  const std::string text = "0123456789abcdef";
  const auto digit = [&](int shift) { return std::string(1, text[static_cast<std::size_t>(id >> shift & 15)]); };
  return domain + ":" + digit(12) + digit(8) + ":" + std::string(1, text[static_cast<std::size_t>(id >> 7 & 1)]) +
         digit(3) + "." + std::to_string(id & 7);
}

/// Routing id of a VF: that of the PF, plus the offset, plus its number times the stride (PCI Express, 9.2.1.2).
std::vector<std::string> next_addresses(Host& host, const std::string& pci, int count) {
  const auto offset = read_number(host, folder_of(pci) + "/sriov_offset", -1);
  const auto stride = read_number(host, folder_of(pci) + "/sriov_stride", -1);
  std::vector<std::string> out;
  if (offset < 1 || stride < 0 || pci.size() != 12 || !readers::is_pci_address(pci)) return out;
  const int own =
      std::stoi(pci.substr(5, 2), nullptr, 16) << 8 | std::stoi(pci.substr(8, 2), nullptr, 16) << 3 | (pci[11] - '0');
  for (int i = 0; i < count; ++i) {
    const auto id = own + offset + stride * i;
    if (id <= 0xffff) out.push_back(pci_address(pci.substr(0, 4), static_cast<int>(id)));
  }
  return out;
}

/// "pci/0000:03:00.0: mode switchdev inline-mode none encap-mode basic"
std::string eswitch_mode(StepContext& context, const std::string& pci) {
  auto shown = context.host.run({"devlink", "dev", "eswitch", "show", "pci/" + pci}, context.deadline.at_most(10));
  if (!shown || shown->exit_code != 0) return "";
  const auto words = readers::words_of(shown->out);
  const auto mode = std::find(words.begin(), words.end(), "mode");
  return mode == words.end() || mode + 1 == words.end() ? "" : mode[1];
}

std::string guard_of(Host& host, const Desired& desired, const SeenFunction& seen) {
  const auto guarded = protected_interfaces(host, desired);
  auto netdevs = host.list(folder_of(seen.pci) + "/net");
  std::vector<std::string> names = netdevs ? *netdevs : std::vector<std::string>{};
  names.push_back(seen.netdev);
  for (const std::string& name : names)
    if (const auto found = guarded.find(name); found != guarded.end()) return name + " " + found->second;
  return "";
}

int told(const std::optional<bool>& value) {
  return value ? static_cast<int>(*value) : -1;
}

void see_settings(StepContext& context, SeenFunction& seen) {
  const std::vector<std::string> command{"ip", "-j", "link", "show", "dev", seen.netdev};
  auto shown = context.host.run(command, context.deadline.at_most(10));
  if (!shown || shown->exit_code != 0) return;
  const auto settings = parse_vf_settings(shown->out);
  if (!settings) return;
  for (SeenVf& vf : seen.vfs) {
    const auto found = settings->find(vf.index);
    if (found == settings->end()) continue;
    const VfSettings& set = found->second;
    vf.set_mac = set.mac;
    vf.set_node_guid = set.node_guid;
    vf.set_port_guid = set.port_guid;
    vf.trust = told(set.trust);
    vf.spoofchk = told(set.spoofchk);
    vf.vlan = set.vlan.value_or(-1);
    vf.max_rate_mbps = set.max_rate_mbps.value_or(-1);
    if (set.link_state == "auto") vf.policy = "follow";
    if (set.link_state == "enable") vf.policy = "up";
    if (set.link_state == "disable") vf.policy = "down";
  }
}

/// MLNX_OFED and DOCA: what was set through the PF lies in files. "Follow", "Up", "Down".
void see_guid_files(Host& host, const std::string& pci, SeenVf& vf) {
  const std::string folder = folder_of(pci) + "/sriov/" + std::to_string(vf.index);
  vf.guid_files = host.exists(folder + "/node");
  if (!vf.guid_files) return;
  vf.set_node_guid = read_attribute(host, folder + "/node");
  vf.set_port_guid = read_attribute(host, folder + "/port");
  vf.policy = read_attribute(host, folder + "/policy");
  for (char& c : vf.policy) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

void see_vfs(StepContext& context, const DesiredRail& rail, SeenFunction& seen) {
  const RdmaState state = read_rdma(context.host, {"", seen.netdev, seen.pci});
  for (int i = 0; i < seen.count; ++i) {
    SeenVf vf{.index = i, .pci = link_name(context.host, folder_of(seen.pci) + "/virtfn" + std::to_string(i))};
    for (const VirtualFunction& now : state.virtual_functions) {
      if (now.pci != vf.pci) continue;
      vf.driver = now.driver;
      vf.netdev = now.netdev;
      vf.mac = now.mac;
      vf.device = now.device;
      vf.node_guid = now.node_guid;
      vf.port_guid = now.port_guid;
      vf.mtu = now.mtu;
    }
    vf.made_interface = context.host.exists(folder_of(vf.pci) + "/net");
    seen.vfs.push_back(std::move(vf));
  }
  see_settings(context, seen);
  if (rail.link_layer == LinkLayer::infiniband)
    for (SeenVf& vf : seen.vfs) see_guid_files(context.host, seen.pci, vf);
}

bool has_entries(Host& host, const std::string& folder) {
  auto names = host.list(folder);
  return names && !names->empty();
}

}  // namespace

SeenFunction see_function(StepContext& context, const DesiredRail& rail) {
  Host& host = context.host;
  SeenFunction seen{.rail = rail.name, .netdev = rail.netdev, .pci = rail.pci};
  const std::string net = "/sys/class/net/" + rail.netdev;
  if (seen.pci.empty())
    if (const auto path = readers::pci_path(host, net); !path.empty()) seen.pci = path.back();
  const std::string folder = folder_of(seen.pci);
  seen.present = seen.pci.empty() ? host.exists(net) : host.exists(folder + "/vendor");
  if (!seen.present || seen.pci.empty()) return seen;
  seen.driver = link_name(host, folder + "/driver");
  seen.up = read_number(host, net + "/flags", 0) & 1;
  seen.mtu = static_cast<int>(read_number(host, net + "/mtu", 0));
  seen.total = static_cast<int>(read_number(host, folder + "/sriov_totalvfs", -1));
  seen.count = static_cast<int>(read_number(host, folder + "/sriov_numvfs", -1));
  seen.autoprobe = static_cast<int>(read_number(host, folder + "/sriov_drivers_autoprobe", -1));
  seen.guid_files = host.exists(folder + "/sriov");
  seen.iommu = has_entries(host, "/sys/class/iommu");
  if (!context.desired.eswitch.empty()) seen.eswitch = eswitch_mode(context, seen.pci);
  seen.next = next_addresses(host, seen.pci, rail.vfs);
  seen.kept = keeps_over_reboot(host, context.desired);
  seen.guarded = guard_of(host, context.desired, seen);
  see_vfs(context, rail, seen);
  return seen;
}

}  // namespace fabricgate::bootstrap
