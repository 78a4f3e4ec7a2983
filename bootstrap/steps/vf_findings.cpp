// What is said of VFs: who they are, whose identity did not take, and why a count was refused. errno alone is ambiguous
// (EBUSY with and without VFs, ENOMEM that is not memory), and its text misleads, so that the kernel's own words are
// kept beside it.
#include <cerrno>

#include "bootstrap/steps/virtual_functions.hpp"
#include "inventory/observe/rdma_text.hpp"

namespace fabricgate::bootstrap {
namespace {

struct Refusal {
  const char* cause;
  std::string found;
};

/// sriov_numvfs_store() and sriov_enable() in drivers/pci/iov.c of Linux, and the drivers' sriov_configure.
Refusal refusal_of(const SeenFunction& seen, int wanted, int code) {
  const std::string now = std::to_string(seen.count) + " VFs exist";
  switch (code) {
    case EBUSY:
      return seen.count > 0 ? Refusal{"vf.count_busy", now} : Refusal{"vf.busy_at_zero", "busy although no VFs exist"};
    case ERANGE:
      return {"vf.exceeds_total", "at most " + std::to_string(seen.total)};
    case ENOSPC:
      return {"vf.vectors_exhausted", "no interrupt vectors are left for VFs"};
    case ENOMEM:
      return {"vf.mmio_exhausted", "no room for VFs in the memory or bus numbers that the firmware gave the bridge"};
    case ENOENT:
      return seen.driver.empty() ? Refusal{"rdma.function_unbound", "no driver"}
                                 : Refusal{"vf.not_configurable", seen.driver + " makes no VFs"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {"vf.not_permitted", seen.count > 0 && wanted == 0 ? now : "no right to change the count"};
    default:
      return {"vf.creation_failed", now};
  }
}

}  // namespace

Subject subject_of(const Desired& desired, const SeenFunction& seen) {
  return {.host = desired.node, .netdev = seen.netdev, .pci = seen.pci, .rail = seen.rail};
}

Subject subject_of(const Desired& desired, const SeenFunction& seen, const SeenVf& vf) {
  Subject subject = subject_of(desired, seen);
  subject.pci = vf.pci;
  if (!vf.netdev.empty()) subject.netdev = vf.netdev;
  subject.device = vf.device;
  return subject;
}

int wanted_of(const DesiredRail& rail) {
  return rail.vfs;
}

std::string vfs_text(int count) {
  return std::to_string(count) + (count == 1 ? " VF" : " VFs");
}

Finding not_effective(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen, const SeenVf& vf) {
  const VfIdentity identity = vf_identity(rail, vf.index);
  const bool infiniband = rail.link_layer == LinkLayer::infiniband;
  const std::string found = infiniband ? "node GUID " + vf.node_guid + ", port GUID " + vf.port_guid : "MAC " + vf.mac;
  const bool zero = infiniband ? is_zero_guid(vf.node_guid) || is_zero_guid(vf.port_guid) : is_zero_guid(vf.mac);
  return make_finding(zero ? "vf.guid_zero" : "vf.guid_not_effective", subject_of(desired, seen, vf),
                      infiniband ? "GUID " + identity.guid : "MAC " + identity.mac,
                      found + (vf.user.empty() ? "" : ", not changed because it is in use: " + vf.user));
}

Finding explain_refusal(const Subject& subject, const SeenFunction& seen, int wanted, const Error& error,
                        const std::vector<KernelMessage>& log) {
  constexpr std::size_t most = 8;
  const Refusal refusal = refusal_of(seen, wanted, error.native);
  Finding finding =
      make_finding(refusal.cause, subject, std::to_string(wanted) + " VFs", refusal.found + ": " + error.what);
  for (const KernelMessage& message : log)
    if (message.text.find(seen.pci) != std::string::npos && finding.evidence.size() < most)
      finding.evidence.push_back({.text = message.text});
  for (const Evidence& evidence : finding.evidence) finding.found += "; kernel: " + evidence.text;
  return finding;
}

}  // namespace fabricgate::bootstrap
