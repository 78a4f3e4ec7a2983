/// Virtual functions of the rails: how many, who they are on the wire, what they may do; made and given their identity
/// before a driver is bound to them, so that the driver takes it. What is in effect is read back from the VF itself.
#include <algorithm>

#include "bootstrap/steps/virtual_functions.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

bool concerns(const Desired& desired) {
  return desired.sriov_owner == Owner::host || std::any_of(desired.rails.begin(), desired.rails.end(),
                                                           [](const DesiredRail& rail) { return wanted_of(rail) > 0; });
}

Result<json> observe_sriov(StepContext& context) {
  json functions = json::object();
  if (!concerns(context.desired)) return functions;
  if (auto names = check_interface_names(context.desired); !names) return names.error();
  for (const DesiredRail& rail : context.desired.rails) {
    SeenFunction seen = see_function(context, rail);
    if (!operations(context.desired, rail, seen).empty()) see_users(context.host, seen);
    functions[rail.name] = seen;
  }
  return functions;
}

std::string users_of(const SeenFunction& seen) {
  std::string out;
  for (const SeenVf& vf : seen.vfs)
    if (!vf.user.empty())
      out += (out.empty() ? "VF " : "; VF ") + std::to_string(vf.index) + " (" + vf.pci + "): " + vf.user;
  return out;
}

bool takes_vfs_away(const SeenFunction& seen, const std::vector<Operation>& todo) {
  return seen.count > 0 && !todo.empty() && todo.front().phase == Phase::count;
}

/// What makes declared VFs impossible on this function, whoever makes them.
std::optional<Finding> impossible(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen) {
  const int wanted = wanted_of(rail);
  const Subject subject = subject_of(desired, seen);
  if (wanted == 0) return std::nullopt;
  if (!seen.present) return make_finding("link.absent", subject, "interface " + seen.netdev, "none");
  if (seen.pci.empty())
    return make_finding("vf.totalvfs_missing", subject, vfs_text(wanted), "no PCI function below " + seen.netdev);
  if (seen.driver.empty()) return make_finding("rdma.function_unbound", subject, "a driver", "none");
  if (seen.total <= 0 || seen.count < 0)
    return make_finding("vf.totalvfs_missing", subject, vfs_text(wanted), "no SR-IOV at " + seen.pci);
  if (seen.total < wanted)
    return make_finding("vf.exceeds_total", subject, vfs_text(wanted), "at most " + std::to_string(seen.total));
  return std::nullopt;
}

/// What must not be done, although it could be.
std::optional<Finding> forbidden(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen,
                                 const std::vector<Operation>& todo) {
  const Subject subject = subject_of(desired, seen);
  if (todo.empty()) return std::nullopt;
  if (!seen.guarded.empty())
    return make_finding("stage.own_interface", subject, "a rail apart from management", seen.guarded);
  if (!rail.vf.bind && wanted_of(rail) > 0 && !seen.iommu)
    return make_finding("vf.iommu_off", subject, "an IOMMU for VFs of guests", "none in /sys/class/iommu");
  if (const std::string users = users_of(seen); takes_vfs_away(seen, todo) && !users.empty())
    return make_finding("vf.count_busy", subject, vfs_text(wanted_of(rail)),
                        vfs_text(seen.count) + ", in use: " + users);
  return std::nullopt;
}

/// VFs that are somebody's and have another identity than theirs are left alone and named.
void name_those_in_use(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen, StepPlan& plan) {
  for (const SeenVf& vf : seen.vfs)
    if (!vf.user.empty() && other_identity(rail, vf)) plan.findings.push_back(not_effective(desired, rail, seen, vf));
}

void plan_function(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen, StepPlan& plan) {
  if (const auto finding = impossible(desired, rail, seen)) return plan.findings.push_back(*finding);
  const auto todo = operations(desired, rail, seen);
  if (const auto finding = forbidden(desired, rail, seen, todo)) return plan.findings.push_back(*finding);
  if (!takes_vfs_away(seen, todo)) name_those_in_use(desired, rail, seen, plan);
  for (const Operation& operation : todo) plan.actions.push_back({shell_line(operation)});
  if (wanted_of(rail) == 0 || seen.kept) return;
  plan.kept = false;
  if (!todo.empty())
    plan.actions.push_back({"# " + seen.netdev + ": " + vfs_text(wanted_of(rail)) + ", " + not_kept});
}

/// What another owner has made wrong; nothing yet is not wrong.
void check_function(const Desired& desired, const DesiredRail& rail, const SeenFunction& seen, StepPlan& plan) {
  if (const auto finding = impossible(desired, rail, seen)) return plan.findings.push_back(*finding);
  if (seen.count > 0 && wanted_of(rail) > 0 && seen.count != wanted_of(rail))
    plan.findings.push_back(
        make_finding("vf.count_mismatch", subject_of(desired, seen), vfs_text(wanted_of(rail)), vfs_text(seen.count)));
}

StepPlan plan_sriov(const Desired& desired, const json& observed) {
  StepPlan plan;
  for (const DesiredRail& rail : desired.rails) {
    if (!observed.contains(rail.name)) continue;
    const auto seen = observed.at(rail.name).get<SeenFunction>();
    desired.sriov_owner == Owner::host ? plan_function(desired, rail, seen, plan)
                                       : check_function(desired, rail, seen, plan);
  }
  return plan;
}

Status apply_sriov(StepContext& context, const json& observed) {
  Status first;
  for (const DesiredRail& rail : context.desired.rails) {
    if (context.desired.sriov_owner != Owner::host || !observed.contains(rail.name)) continue;
    const auto seen = observed.at(rail.name).get<SeenFunction>();
    const auto todo = operations(context.desired, rail, seen);
    if (todo.empty() || impossible(context.desired, rail, seen) || forbidden(context.desired, rail, seen, todo))
      continue;
    if (auto status = make_virtual_functions(context, rail, seen); !status && first)
      first = status.error().with("rail " + rail.name);
  }
  return first;
}

/// The rails that had VFs, now with none.
Desired without_vfs(Desired desired) {
  std::erase_if(desired.rails, [](const DesiredRail& rail) { return wanted_of(rail) == 0; });
  for (DesiredRail& rail : desired.rails) rail.vfs = 0;
  if (desired.sriov_owner != Owner::host) desired.rails.clear();
  return desired;
}

Result<json> observe_left_sriov(StepContext& context) {
  const Desired none = without_vfs(context.desired);
  StepContext left{.desired = none, .host = context.host, .deadline = context.deadline};
  return observe_sriov(left);
}

StepPlan plan_no_sriov(const Desired& desired, const json& observed) {
  return plan_sriov(without_vfs(desired), observed);
}

Status apply_no_sriov(StepContext& context, const json& observed) {
  const Desired none = without_vfs(context.desired);
  StepContext left{.desired = none, .host = context.host, .deadline = context.deadline, .settle_s = context.settle_s};
  const Status status = apply_sriov(left, observed);
  context.findings.insert(context.findings.end(), left.findings.begin(), left.findings.end());
  return status;
}

const Step sriov_undo{"sriov", observe_left_sriov, plan_no_sriov, apply_no_sriov};

}  // namespace

const Step sriov_step{"sriov", observe_sriov, plan_sriov, apply_sriov, &sriov_undo};

}  // namespace fabricgate::bootstrap
