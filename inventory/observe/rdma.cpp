#include "inventory/observe/rdma.hpp"

#include <algorithm>
#include <set>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/rdma_text.hpp"
#include "inventory/observe/readers.hpp"
#include "results/clock.hpp"

namespace fabricgate {
namespace readers {
namespace {

const std::string devices_folder = "/sys/class/infiniband";

/// "4: ACTIVE" → "ACTIVE"
std::string without_number(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

std::vector<std::string> names_in(Host& host, const std::string& folder) {
  auto names = host.list(folder);
  return names ? *names : std::vector<std::string>{};
}

std::string port_folder(const std::string& device, const std::string& number) {
  return devices_folder + "/" + device + "/ports/" + number;
}

RdmaPort read_port(Host& host, const std::string& device, const std::string& number) {
  const std::string folder = port_folder(device, number);
  RdmaPort p;
  p.device = device;
  p.port = static_cast<int>(to_integer(number).value_or(0));
  if (const auto path = pci_path(host, devices_folder + "/" + device); !path.empty()) p.pci = path.back();
  p.node_guid = read_attribute(host, devices_folder + "/" + device + "/node_guid");
  p.state = without_number(read_attribute(host, folder + "/state"));
  p.phys_state = without_number(read_attribute(host, folder + "/phys_state"));
  p.rate = read_attribute(host, folder + "/rate");
  p.link_layer = read_attribute(host, folder + "/link_layer");
  p.netdev = read_attribute(host, folder + "/gid_attrs/ndevs/0");
  p.lid = read_number(host, folder + "/lid", 0);
  p.sm_lid = read_number(host, folder + "/sm_lid", 0);
  p.counters = read_counters(host, folder + "/counters");
  for (const auto& [name, value] : read_counters(host, folder + "/hw_counters"))
    if (name != "lifespan") p.counters.emplace(name, value);  // how long values are cached, in ms: a setting
  if (p.netdev.empty())
    if (const auto names = names_in(host, devices_folder + "/" + device + "/device/net"); !names.empty())
      p.netdev = names.front();
  return p;
}

std::vector<Gid> read_gids(Host& host, const std::string& folder) {
  std::vector<Gid> out;
  for (const std::string& name : names_in(host, folder + "/gids")) {
    Gid gid{.index = static_cast<int>(to_integer(name).value_or(-1))};
    gid.gid = read_attribute(host, folder + "/gids/" + name);
    if (gid.index < 0 || gid.gid.empty() || is_zero_guid(gid.gid)) continue;
    gid.type = read_attribute(host, folder + "/gid_attrs/types/" + name);
    gid.netdev = read_attribute(host, folder + "/gid_attrs/ndevs/" + name);
    out.push_back(std::move(gid));
  }
  std::sort(out.begin(), out.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return out;
}

/// The port that belongs to the interface; empty when none of several does.
std::string port_of(Host& host, const std::string& device, const std::string& netdev) {
  const auto ports = names_in(host, devices_folder + "/" + device + "/ports");
  if (ports.size() == 1) return ports.front();
  for (const std::string& port : ports)
    for (const Gid& gid : read_gids(host, port_folder(device, port)))
      if (gid.netdev == netdev) return port;
  // InfiniBand entries name no interface; dev_port counts from 0
  const std::int64_t place = read_number(host, "/sys/class/net/" + netdev + "/dev_port", -1);
  const auto found = std::find(ports.begin(), ports.end(), std::to_string(place + 1));
  return place < 0 || found == ports.end() ? "" : *found;
}

bool made_by_software(Host& host, const std::string& device) {
  const std::string folder = devices_folder + "/" + device;
  auto target = host.read_link(folder);
  if (target && target->find("/virtual/") != std::string::npos) return true;
  return host.exists(folder + "/parent") || device.rfind("siw", 0) == 0;  // `parent` is an attribute of rxe alone
}

void read_device(Host& host, const RdmaNames& names, RdmaState& state) {
  const std::string folder = devices_folder + "/" + names.device;
  const std::string port = port_of(host, names.device, names.netdev);
  state.present = !port.empty();
  if (!state.present) return;
  state.port = read_port(host, names.device, port);
  state.node_type = without_number(read_attribute(host, folder + "/node_type"));
  state.software = made_by_software(host, names.device);
  state.gids = read_gids(host, port_folder(names.device, port));
  std::set<std::string> netdevs;
  for (const Gid& gid : state.gids) netdevs.insert(gid.netdev);
  for (const std::string& name : names_in(host, folder + "/device/net")) netdevs.insert(name);
  netdevs.insert(read_attribute(host, folder + "/parent"));
  netdevs.erase("");
  state.netdevs.assign(netdevs.begin(), netdevs.end());
}

VirtualFunction read_virtual_function(Host& host, const std::string& address) {
  const std::string folder = "/sys/bus/pci/devices/" + address;
  VirtualFunction vf{.pci = address, .driver = link_name(host, folder + "/driver")};
  if (const auto names = names_in(host, folder + "/net"); !names.empty()) {
    const std::string net = "/sys/class/net/" + names.front();
    vf.netdev = names.front();
    vf.mac = read_attribute(host, net + "/address");
    vf.admin_up = read_number(host, net + "/flags", 0) & 1;
    vf.carrier = read_number(host, net + "/carrier", 0) == 1;
    vf.mtu = static_cast<int>(read_number(host, net + "/mtu", 0));
  }
  const auto devices = names_in(host, folder + "/infiniband");
  if (devices.empty()) return vf;
  const RdmaPort port = read_port(host, devices.front(), "1");
  vf.device = port.device;
  vf.node_guid = port.node_guid;
  vf.state = port.state;
  vf.phys_state = port.phys_state;
  vf.lid = port.lid;
  vf.sm_lid = port.sm_lid;
  const std::string gid = read_attribute(host, port_folder(port.device, "1") + "/gids/0");
  if (gid.size() == 39) vf.port_guid = gid.substr(20);
  return vf;
}

void read_virtual_functions(Host& host, RdmaState& state) {
  const std::string folder = "/sys/bus/pci/devices/" + state.function;
  state.vfs_total = static_cast<int>(read_number(host, folder + "/sriov_totalvfs", -1));
  state.vfs = static_cast<int>(read_number(host, folder + "/sriov_numvfs", -1));
  for (int i = 0; i < state.vfs; ++i) {
    const std::string address = link_name(host, folder + "/virtfn" + std::to_string(i));
    if (address.empty()) continue;
    state.virtual_functions.push_back(read_virtual_function(host, address));
    state.virtual_functions.back().policy = read_attribute(host, folder + "/sriov/" + std::to_string(i) + "/policy");
  }
}

}  // namespace

std::vector<RdmaPort> read_rdma_ports(Host& host) {
  std::vector<RdmaPort> out;
  for (const std::string& device : names_in(host, devices_folder))
    for (const std::string& port : names_in(host, devices_folder + "/" + device + "/ports"))
      out.push_back(read_port(host, device, port));
  return out;
}

}  // namespace readers

RdmaState read_rdma(Host& host, const RdmaNames& names) {
  using namespace readers;
  RdmaState state;
  state.read_unix_s = unix_now_s();
  state.devices = names_in(host, devices_folder);
  read_device(host, names, state);
  const std::string net = "/sys/class/net/" + names.netdev;
  state.netdev_up = read_number(host, net + "/flags", 0) & 1;
  state.netdev_carrier = read_number(host, net + "/carrier", 0) == 1;
  state.netdev_mtu = static_cast<int>(read_number(host, net + "/mtu", 0));
  state.function = names.pci;
  if (state.function.empty())
    if (const auto path = pci_path(host, net); !path.empty()) state.function = path.back();
  if (state.function.empty()) state.function = state.port.pci;
  if (state.function.empty()) return state;
  state.function_present = host.exists("/sys/bus/pci/devices/" + state.function + "/vendor");
  state.function_driver = link_name(host, "/sys/bus/pci/devices/" + state.function + "/driver");
  read_virtual_functions(host, state);
  return state;
}

}  // namespace fabricgate
