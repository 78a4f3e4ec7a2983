/// Declared against observed for one node. Sample: Facts as JSON, and "clock_offset_s" (node minus head node) where known.
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "inventory/desired/desired.hpp"
#include "inventory/observe/facts.hpp"
#include "inventory/observe/identity.hpp"
#include "inventory/observe/software.hpp"
#include "suites/checks/host_hardware.hpp"
#include "suites/checks/judging.hpp"
#include "suites/checks/rdma_view.hpp"

namespace fabricgate::suites {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 56;  // 72 petabytes: no file system of a node

struct View {
  const Node& node;
  const Desired& want;
  const Facts& facts;
  std::vector<Finding>& findings;

  Subject subject() const {
    Subject subject;
    subject.host = node.name;
    return subject;
  }
};

const Netdev* netdev_of(const Facts& facts, const std::string& name) {
  for (const Netdev& netdev : facts.netdevs)
    if (netdev.name == name) return &netdev;
  return nullptr;
}

void judge_identity(const View& v) {
  if (short_name(v.facts.hostname) != short_name(v.node.name))
    v.findings.push_back(make_finding("host.identity_mismatch", v.subject(), v.node.name, v.facts.hostname));
  if (!parse_ipv4(v.want.management_address)) return;  // a name, resolved by whoever connects
  for (const Netdev& netdev : v.facts.netdevs)
    for (const std::string& address : netdev.addresses)
      if (address.substr(0, address.find('/')) == v.want.management_address) return;
  v.findings.push_back(make_finding("host.management_address", v.subject(), v.want.management_address, "not on any interface"));
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes) + " bytes";
}

void judge_demands(const View& v) {
  const NodeClass& spec = *v.node.spec;
  if (v.facts.gpus != spec.gpus)
    v.findings.push_back(make_finding("gpu.count_mismatch", v.subject(), std::to_string(spec.gpus), std::to_string(v.facts.gpus)));
  if (!spec.kernel.empty() && fnmatch(spec.kernel.c_str(), v.facts.kernel.c_str(), 0) != 0)
    v.findings.push_back(make_finding("host.kernel_mismatch", v.subject(), spec.kernel, v.facts.kernel));
  if (v.want.memlock_bytes && v.facts.memlock_soft_bytes < *v.want.memlock_bytes)
    v.findings.push_back(make_finding("rdma.memlock_limit", v.subject(), bytes_text(*v.want.memlock_bytes),
                                      bytes_text(v.facts.memlock_soft_bytes) + " in the launched process"));
  for (const auto& [key, value] : v.want.sysctl) {
    const auto found = v.facts.sysctl.find(key);
    if (found == v.facts.sysctl.end()) continue;  // told below, where nothing else explains it
    if (found->second == value) continue;
    Subject subject = v.subject();
    subject.file = key;
    v.findings.push_back(make_finding("host.sysctl_mismatch", subject, value, found->second));
  }
}

/// A declared value that was not observed is not known to be right.
Finding untold(Finding finding) {
  finding.verdict = Verdict::inconclusive;
  return finding;
}

/// Equal, or one begins with the other: MLNX_OFED 24.10-1.1.4.0 brings modules of version 24.10-1.1.4.
bool same_version(const std::string& a, const std::string& b) {
  const std::string &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  return longer.rfind(shorter, 0) == 0 && (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

/// The running module tells the version of MLNX_OFED. DOCA counts its releases otherwise, and modules of the distribution tell
/// none.
void judge_driver(const View& v) {
  const DriverSpec& want = v.node.spec->driver;
  if (want.version.empty()) return;
  const auto found = v.facts.versions.find("mlx5_core");
  const std::string running = found == v.facts.versions.end() ? "" : found->second;
  const std::string module = running.empty() ? "mlx5_core tells no version" : "mlx5_core " + running;
  Finding finding = make_finding("driver.version_mismatch", v.subject(), want.source + (want.source.empty() ? "" : " ") + want.version, module);
  if (running.empty() || want.source == "doca-host" || want.source == "inbox") {
    v.findings.push_back(untold(std::move(finding)));
  } else if (!same_version(want.version, running)) {
    v.findings.push_back(std::move(finding));
  }
}

/// PCI address and VFs of a rail without RDMA device; link.rdma compares those of one that has one.
void judge_function(const View& v, const DesiredRail& rail, const Netdev& netdev, const Subject& subject) {
  if (!rail.device.empty()) return;
  if (!rail.pci.empty() && netdev.pci.empty())
    v.findings.push_back(untold(make_finding("link.absent", subject, rail.netdev + " at " + rail.pci, "its PCI address is not told")));
  if (rail.vfs == 0) return;
  const std::string expected = std::to_string(rail.vfs) + " VFs";
  for (const PciDevice& function : v.facts.pci) {
    if (netdev.pci.empty() || function.address != netdev.pci) continue;
    if (function.vfs != rail.vfs) v.findings.push_back(make_finding("vf.count_mismatch", subject, expected, std::to_string(function.vfs)));
    return;
  }
  v.findings.push_back(untold(make_finding("vf.count_mismatch", subject, expected, "no PCI function of " + rail.netdev + " is told")));
}

void judge_rails(const View& v) {
  for (const DesiredRail& rail : v.want.rails) {
    Subject subject = v.subject();
    subject.rail = rail.name;
    subject.netdev = rail.netdev;
    const Netdev* netdev = netdev_of(v.facts, rail.netdev);
    if (netdev == nullptr) {
      v.findings.push_back(make_finding("link.absent", subject, "interface " + rail.netdev, "no interface " + rail.netdev));
      continue;
    }
    if (made_by_software(*netdev) && !v.node.spec->emulated)
      v.findings.push_back(make_finding("host.emulation_undeclared", subject, "a hardware interface", "driver " + netdev->driver));
    if (!rail.pci.empty() && !netdev->pci.empty() && netdev->pci != rail.pci)
      v.findings.push_back(make_finding("link.absent", subject, rail.netdev + " at " + rail.pci, rail.netdev + " at " + netdev->pci));
    judge_function(v, rail, *netdev, subject);
  }
}

bool made_of(const std::string& text, const char* characters, std::size_t length) {
  return text.size() == length && text.find_first_not_of(characters) == std::string::npos;
}

/// Empty, or what any node says of itself and this one does not.
std::string reading_problem(const Facts& facts, const Desired& want) {
  if (!made_of(facts.machine_id, "0123456789abcdef", 32)) return "machine id '" + facts.machine_id + "' is none: /etc/machine-id";
  if (!made_of(facts.boot_id, "0123456789abcdef-", 36)) return "boot id '" + facts.boot_id + "' is none";
  for (const std::string& path : {want.spool_dir, want.install_dir}) {
    const auto found = facts.free_bytes.find(path);
    if (found == facts.free_bytes.end()) return "the free space of " + path + " was not read";
    if (found->second <= 0 || found->second > most_bytes) return "free space of " + path + " is " + std::to_string(found->second) + " bytes";
  }
  for (const char* what : {"openmpi", "fabricgate"})  // others may be absent, but then on every node: host.fleet
    if (facts.versions.count(what) == 0) return std::string("the version of ") + what + " was not read";
  return "";
}

/// Set when the offset of the node's clock is no evidence.
std::optional<Judgement> judge_clock(const JudgeContext& context, const Record& record, std::vector<Finding>& findings) {
  const auto offset = record.sample.find("clock_offset_s");
  const Limit* limit = context.limits.find("clock.offset");
  if (limit == nullptr || !limit->high) return limit_missing(record, "clock.offset");
  if (offset == record.sample.end() || !offset->is_number() || !within(offset->get<double>(), -1e10, 1e10))
    return unusable(record, "clock_offset_s is not a number");
  const double off = std::abs(offset->get<double>());
  if (off > *limit->high)
    findings.push_back(held_against(make_finding("host.clock_offset", {.host = record.hosts[0]}, "at most " + time_text(*limit->high), time_text(off)), "clock.offset", *limit));
  return {};
}

}  // namespace

Judgement judge_host_facts(const JudgeContext& context, const Record& record) {
  if (record.hosts.size() != 1) return unusable(record, "the record does not name one host");
  const auto index = context.find(record.hosts[0]);
  if (!index || !context.inventory.nodes[*index].spec) return unusable(record, record.hosts[0] + " is not in the inventory");
  if (!record.sample.is_object()) return unusable(record, "sample is not an object");
  const auto facts = facts_from_json(record.sample);
  if (!facts) return unusable(record, facts.error().what);
  if (const std::string problem = reading_problem(*facts, desired(context.inventory, *index)); !problem.empty()) return unusable(record, problem);
  if (facts->hostname.empty() || facts->kernel.empty() || facts->netdevs.empty() || facts->cpus <= 0 || facts->gpus < 0 ||
      facts->memory_bytes <= 0 || !within(facts->clock_unix_s, 1, 1e11))
    return unusable(record, "facts lack host name, kernel, interfaces, CPUs, memory or clock");
  for (const RdmaPort& port : facts->rdma_ports)
    if (const std::string why = impossible_port(port); !why.empty()) return unusable(record, port.device + ": " + why);
  std::vector<Finding> findings;
  const Desired want = desired(context.inventory, *index);
  if (facts->memlock_soft_bytes > facts->memlock_hard_bytes)
    return unusable(record, "soft memlock limit above the hard one");
  const View view{context.inventory.nodes[*index], want, *facts, findings};
  judge_identity(view);
  judge_demands(view);
  judge_rails(view);
  judge_driver(view);
  judge_hardware(want, *facts, findings);
  if (const auto clock = judge_clock(context, record, findings)) return *clock;
  // without its rails a node has none of their settings: then the rails are what is told
  for (const auto& [key, value] : want.sysctl)
    if (findings.empty() && facts->sysctl.count(key) == 0) return unusable(record, "kernel setting " + key + " was not read");
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
