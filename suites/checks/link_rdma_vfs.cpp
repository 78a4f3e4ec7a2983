#include "inventory/observe/rdma_text.hpp"
#include "suites/checks/rdma_view.hpp"

namespace fabricgate::suites {
namespace {

/// True when the count is as declared.
bool judge_count(const RdmaView& v, const RdmaState& state, Subject subject, std::vector<Finding>& findings) {
  const std::string expected = std::to_string(v.want.vfs) + " VFs";
  if (state.vfs < 0 || state.vfs_total <= 0) {
    findings.push_back(make_finding("vf.totalvfs_missing", subject, expected, state.function.empty() ? "no PCI function" : "no SR-IOV at " + state.function));
  } else if (state.vfs_total < v.want.vfs) {
    findings.push_back(make_finding("vf.exceeds_total", subject, expected, "at most " + std::to_string(state.vfs_total)));
  } else if (state.vfs != v.want.vfs) {
    findings.push_back(make_finding("vf.count_mismatch", subject, expected, std::to_string(state.vfs)));
  } else {
    return true;
  }
  return false;
}

/// What the VF lacks to be used, or empty.
std::string lacking(const RdmaView& v, const RdmaState& state, const VirtualFunction& vf) {
  if (vf.driver.empty()) return "no driver";
  if (vf.netdev.empty() && !v.infiniband()) return "no interface";
  if (vf.device.empty() && !state.software) return "no RDMA device";  // soft RDMA on the PF makes none on its VFs
  return "";
}

bool zero_identity(const RdmaView& v, const VirtualFunction& vf) {
  if (is_zero_guid(vf.node_guid)) return true;
  return v.infiniband() ? is_zero_guid(vf.port_guid) : is_zero_guid(vf.mac);
}

std::string identity_text(const RdmaView& v, const VirtualFunction& vf) {
  const std::string guid = "node GUID " + (vf.node_guid.empty() ? "none" : vf.node_guid);
  return guid + (v.infiniband() ? ", port GUID " + vf.port_guid : ", MAC " + vf.mac);
}

/// The first that is wrong explains the rest.
void judge_one(const RdmaView& v, const RdmaState& state, const VirtualFunction& vf, std::vector<Finding>& findings) {
  constexpr std::int64_t no_lid = 0xffff;
  constexpr int large = 4200;  // an interface of this MTU has an RDMA MTU of 4096
  Subject subject = v.subject;
  subject.pci = vf.pci;
  subject.netdev = vf.netdev;
  subject.device = vf.device;
  if (vf.driver == "vfio-pci") return;  // given to a guest on purpose
  if (const std::string what = lacking(v, state, vf); !what.empty()) {
    findings.push_back(make_finding("vf.unusable", subject, "driver, interface and RDMA device", what));
  } else if (zero_identity(v, vf)) {
    findings.push_back(make_finding("vf.guid_zero", subject, "GUIDs and MAC that are not zero", identity_text(v, vf)));
  } else if (v.infiniband() && vf.state != "ACTIVE" && vf.phys_state == "LinkUp" && vf.lid == no_lid && vf.sm_lid != 0) {
    findings.push_back(make_finding("vf.sm_not_serving", subject, "ACTIVE", vf.state + ", LID 65535, SM LID " + std::to_string(vf.sm_lid)));
  } else if (vf.policy == "Down" || (vf.admin_up && !vf.carrier && state.netdev_carrier)) {
    findings.push_back(make_finding("vf.link_down", subject, "the link state of its PF, which is up", vf.policy == "Down" ? "policy Down" : "no carrier"));
  } else if (!v.infiniband() && vf.mtu > 0 && vf.mtu < large && state.netdev_mtu >= large) {
    findings.push_back(make_finding("mtu.vf_below_pf", subject, std::to_string(state.netdev_mtu), std::to_string(vf.mtu)));
  }
}

}  // namespace

void judge_virtual_functions(const RdmaView& v, const RdmaState& state, std::vector<Finding>& findings) {
  Subject subject = v.subject;
  subject.pci = state.function;
  if (!judge_count(v, state, subject, findings) || v.spec->sriov_owner != Owner::host) return;
  if (static_cast<int>(state.virtual_functions.size()) != state.vfs)
    findings.push_back(make_finding("vf.unusable", subject, std::to_string(state.vfs) + " PCI functions of VFs", std::to_string(state.virtual_functions.size())));
  for (const VirtualFunction& vf : state.virtual_functions) judge_one(v, state, vf, findings);
}

}  // namespace fabricgate::suites
