/// Whether a rail has the RDMA device it declares, and whether that port is up.
#include <algorithm>
#include <set>

#include "inventory/observe/rdma_text.hpp"
#include "suites/checks/rdma_view.hpp"

namespace fabricgate::suites {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Finding absent(const RdmaView& v, const RdmaState& state) {
  Subject subject = v.subject;
  subject.pci = state.function;
  const std::string expected = "RDMA device " + v.want.device + " on " + v.want.netdev;
  const std::string driver = state.function_driver.empty() ? "" : " (" + state.function + " has driver " + state.function_driver + ")";
  if (state.function_present && state.function_driver.empty())
    return make_finding("rdma.function_unbound", subject, "a driver for " + state.function, "none, so no " + v.want.device);
  if (state.devices.empty()) return make_finding("rdma.no_devices", subject, expected, "no RDMA device on the node" + driver);
  if (contains(state.devices, v.want.device))
    return make_finding("rdma.device_elsewhere", subject, expected, "no port of " + v.want.device + " belongs to " + v.want.netdev);
  return make_finding("rdma.device_absent", subject, expected, "only " + joined(state.devices) + driver);
}

/// The device belongs to another interface or PCI function than the rail, so its numbers would be of another wire.
bool elsewhere(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  if (!state.netdevs.empty() && !contains(state.netdevs, v.want.netdev)) {
    findings.push_back(make_finding("rdma.device_elsewhere", v.subject, v.want.device + " on " + v.want.netdev, "on " + joined(state.netdevs)));
  } else if (!v.want.pci.empty() && !state.port.pci.empty() && state.port.pci != v.want.pci) {
    findings.push_back(make_finding("rdma.device_elsewhere", v.subject, v.want.device + " at " + v.want.pci, "at " + state.port.pci));
  } else {
    return false;
  }
  return true;
}

std::string state_text(const RdmaPort& port) {
  return port.state + ", physical state " + port.phys_state + ", LID " + std::to_string(port.lid) + ", SM LID " + std::to_string(port.sm_lid);
}

const char* down_cause(const RdmaState& state) {
  static const std::set<std::string> training{"Polling", "PortConfigurationTraining", "LinkErrorRecovery", "Phy Test", "Sleep"};
  constexpr std::int64_t no_lid = 0xffff;
  const RdmaPort& port = state.port;
  if (port.phys_state == "Disabled") return "link.disabled";
  if (training.count(port.phys_state) != 0) return "link.polling";
  if (port.link_layer != "InfiniBand") return "link.down";
  if (port.state == "ARMED") return "link.state_armed";
  // a physical port of LID 65535 would not know its subnet manager
  if (port.phys_state == "LinkUp" && port.lid == no_lid && port.sm_lid != 0) return "vf.sm_not_serving";
  return port.state == "INIT" && port.phys_state == "LinkUp" ? "link.no_subnet_manager" : "link.down";
}

}  // namespace

Result<RdmaView> read_rdma_view(const JudgeContext& context, const Record& record) {
  const auto no = [](const std::string& what) { return Error{ErrorKind::parse, what, 0}; };
  if (record.hosts.size() != 1) return no("the record does not name one host");
  const auto index = context.find(record.hosts[0]);
  if (!index) return no(record.hosts[0] + " is not in the inventory");
  RdmaView view;
  view.spec = context.inventory.nodes[*index].spec.get();
  for (const DesiredRail& rail : desired(context.inventory, *index).rails)
    if (rail.name == record.rail) view.want = rail;
  if (view.want.device.empty()) return no("rail '" + record.rail + "' of " + record.hosts[0] + " declares no RDMA device");
  if (!record.sample.is_object()) return no("sample is not an object");
  auto sample = fabric::rdma_sample_from_json(record.sample);
  if (!sample) return sample.error();
  if (sample->host != record.hosts[0] || sample->rail != record.rail) return no("sample is about another rail than the record");
  if (sample->device != view.want.device) return no("sample is of device '" + sample->device + "', declared is " + view.want.device);
  view.sample = std::move(*sample);
  view.subject = {.host = record.hosts[0], .device = view.want.device, .netdev = view.want.netdev, .rail = record.rail};
  return view;
}

std::string impossible_port(const RdmaPort& port) {
  if (port.port < 1 || port.port > 255) return "port number " + std::to_string(port.port) + " cannot be";
  for (const std::int64_t lid : {port.lid, port.sm_lid})
    if (lid < 0 || lid > UINT32_MAX) return "LID " + std::to_string(lid) + " cannot be";
  for (const auto& [name, value] : port.counters)
    if (value < 0) return "counter " + name + " is negative";
  return "";
}

namespace {

std::string impossible_function(const RdmaState& state) {
  const auto functions = static_cast<int>(state.virtual_functions.size());
  if (state.vfs < -1 || state.vfs > state.vfs_total || functions > std::max(state.vfs, 0))
    return std::to_string(functions) + " of " + std::to_string(state.vfs) + " VFs, at most " + std::to_string(state.vfs_total) + ", cannot be";
  for (const VirtualFunction& vf : state.virtual_functions)
    if (vf.lid < 0 || vf.lid > 0xffff || vf.sm_lid < 0 || vf.sm_lid > 0xffff || vf.mtu < 0) return "a number of VF " + vf.pci + " cannot be";
  return "";
}

}  // namespace

std::string rdma_unreadable(const RdmaState& state) {
  if (!within(state.read_unix_s, 1, 1e11)) return "the time of reading cannot be";
  if (const std::string why = impossible_function(state); !why.empty()) return why;
  if (state.netdev_mtu < 0 || state.netdev_mtu > 1 << 20) return "MTU " + std::to_string(state.netdev_mtu) + " cannot be";
  if (!state.present) return "";
  if (const std::string why = impossible_port(state.port); !why.empty()) return why;
  for (const Gid& gid : state.gids)
    if (gid.index < 0) return "GID index " + std::to_string(gid.index) + " cannot be";
  if (state.port.state.empty() || state.port.phys_state.empty()) return "the port's state was not read";
  if (state.port.link_layer != "InfiniBand" && state.port.link_layer != "Ethernet")
    return "link layer '" + state.port.link_layer + "' is unknown";
  if (state.port.node_guid.empty()) return "the node GUID was not read";
  return "";
}

bool judge_rdma_port(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  if (!state.present) {
    findings.push_back(absent(v, state));
    return false;
  }
  if (elsewhere(v, state, findings)) return false;
  const RdmaPort& port = state.port;
  const std::string layer = v.infiniband() ? "InfiniBand" : "Ethernet";
  if (port.link_layer != layer) {
    findings.push_back(make_finding("rdma.link_layer", v.subject, layer, port.link_layer));
  } else if (is_zero_guid(port.node_guid)) {
    findings.push_back(make_finding("vf.guid_zero", v.subject, "a node GUID", port.node_guid));
  } else if (port.state != "ACTIVE") {
    Finding finding = make_finding(down_cause(state), v.subject, "ACTIVE", state_text(port));
    // A RoCE port follows its interface, of which link.rail has told; an InfiniBand port is the cause, not the echo.
    finding.primary = v.infiniband() || (state.netdev_up && state.netdev_carrier);
    findings.push_back(finding);
  } else {
    return true;
  }
  return false;
}

}  // namespace fabricgate::suites
