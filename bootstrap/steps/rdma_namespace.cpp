/// Whether network namespaces share the RDMA devices or each has its own (`rdma system`): as an option of ib_core for
/// every boot, and now where the kernel lets it, which is while there is one network namespace alone.
#include <algorithm>
#include <set>

#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/removal.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* drop_in = "/etc/modprobe.d/fabricgate-rdma.conf";
constexpr const char* live = "/sys/module/ib_core/parameters/netns_mode";  // what `rdma system set` changes too
constexpr std::size_t most_named = 8;

std::string wanted_file(const Desired& desired) {
  return std::string(file_header) + "options ib_core netns_mode=" + (desired.rdma_namespace == "shared" ? "1" : "0") +
         "\n";
}

/// Other namespaces than that of process 1, each by its name or by one process in it: any of them keeps the mode.
std::vector<std::string> other_namespaces(Host& host) {
  std::vector<std::string> out;
  if (auto names = host.list("/run/netns"))
    for (const std::string& name : *names) out.push_back("network namespace " + name);
  const auto first = host.read_link("/proc/1/ns/net");
  std::set<std::string> seen;
  const auto processes = host.list("/proc");
  if (!first || !processes) return out;
  seen.insert(*first);
  for (const std::string& pid : *processes) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto own = host.read_link("/proc/" + pid + "/ns/net");
    if (own && seen.insert(*own).second)
      out.push_back("network namespace of process " + pid + " " +
                    readers::read_attribute(host, "/proc/" + pid + "/comm"));
  }
  return out;
}

Result<json> observe_rdma_namespace(StepContext& context) {
  if (context.desired.rdma_namespace.empty()) return json::object();
  const std::string mode = readers::read_attribute(context.host, live);
  const auto file = context.host.read(drop_in);
  json observed{{"mode", mode == "Y"   ? "shared"
                         : mode == "N" ? "exclusive"
                                       : ""},
                {"file", file ? *file : ""},
                {"others", json::array()}};
  if (text_under(observed, "mode") != context.desired.rdma_namespace)
    observed["others"] = other_namespaces(context.host);
  return observed;
}

Finding held(const Desired& desired, const std::string& mode, const std::string& by) {
  return make_finding("rdma.netns_mode", {.host = desired.node, .file = live}, desired.rdma_namespace, mode + by);
}

std::string holders(const json& others) {
  std::string out = ", held by ";
  for (std::size_t i = 0; i < std::min(most_named, others.size()); ++i)
    out += (i ? ", " : "") + others[i].get<std::string>();
  return others.size() > most_named ? out + " and " + std::to_string(others.size() - most_named) + " more" : out;
}

/// Of a driver that Kubernetes owns the mode is looked at only; one that is not loaded yet takes it from the file.
StepPlan plan_rdma_namespace(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (desired.rdma_namespace.empty()) return plan;
  const std::string mode = text_under(observed, "mode");
  const bool other = !mode.empty() && mode != desired.rdma_namespace;
  if (desired.driver.owner == Owner::operator_) {
    if (!other) return plan;
    plan.findings.push_back(held(desired, mode, ", and the driver is the operator's"));
    plan.findings.back().verdict = Verdict::fail;  // a reboot changes nothing
    return plan;
  }
  if (text_under(observed, "file") != wanted_file(desired))
    plan.actions.push_back(write_action(drop_in, wanted_file(desired)));
  if (!other) return plan;
  if (observed.at("others").empty())
    plan.actions.push_back({shell_line({"rdma", "system", "set", "netns", desired.rdma_namespace})});
  else
    plan.findings.push_back(held(desired, mode, holders(observed.at("others"))));
  return plan;
}

Status apply_rdma_namespace(StepContext& context, const json& observed) {
  const Desired& desired = context.desired;
  const auto todo = plan_rdma_namespace(desired, observed).actions;
  if (todo.empty()) return {};
  if (text_under(observed, "file") != wanted_file(desired))
    if (auto status = write_checked(context, drop_in, wanted_file(desired)); !status) return status;
  const std::string mode = text_under(observed, "mode");
  if (mode.empty() || mode == desired.rdma_namespace || !observed.at("others").empty()) return {};
  auto status = run_checked(context, {"rdma", "system", "set", "netns", desired.rdma_namespace});
  if (!status && status.error().what.find("busy") != std::string::npos)
    context.findings.push_back(held(desired, mode, ", and the kernel says busy: " + status.error().what));
  return status;
}

Result<json> observe_left_option(StepContext& context) {
  return observe_own_files(context.host, {drop_in}, {}, "the RDMA namespace mode stays until the next reboot");
}

const Step rdma_namespace_undo{"rdma_namespace", observe_left_option, plan_removal, apply_removal};

}  // namespace

const Step rdma_namespace_step{"rdma_namespace", observe_rdma_namespace, plan_rdma_namespace, apply_rdma_namespace,
                               &rdma_namespace_undo};

}  // namespace fabricgate::bootstrap
