/// RoCE of Ethernet rails: which priority is lossless, whose marks are heeded, how traffic is marked, and that the
/// rail's address has a RoCE v2 GID. Only what the inventory declares is looked at. It is lost at the next reboot.
#include "bootstrap/steps/roce.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

bool declared(const RoceSpec& spec) {
  return !spec.trust.empty() || spec.pfc || spec.ecn || spec.traffic_class;
}

Result<json> observe_roce(StepContext& context) {
  json rails = json::object();
  for (const DesiredRail& rail : context.desired.rails) {
    if (!declared(rail.roce)) continue;
    if (auto names = check_interface_names(context.desired); !names) return names.error();
    rails[rail.name] = see_roce(context, rail);
  }
  return rails;
}

Subject subject_of(const Desired& desired, const SeenRoce& seen) {
  return {.host = desired.node, .device = seen.device, .netdev = seen.netdev, .rail = seen.rail};
}

std::string line_of(const RoceDeed& deed) {
  return deed.arguments.empty() ? "echo " + shell_line({deed.value}) + " > " + deed.path : shell_line(deed.arguments);
}

bool may_change(const Desired& desired, const SeenRoce& seen) {
  return desired.manage.network && seen.guarded.empty();
}

void plan_change(const Desired& desired, const SeenRoce& seen, const RoceChange& change, StepPlan& plan) {
  const Subject subject = subject_of(desired, seen);
  if (change.deeds.empty())
    plan.findings.push_back(
        make_finding("roce.setting_unavailable", subject, change.wanted, change.found + "; " + change.reason));
  else if (!desired.manage.network)
    plan.findings.push_back(make_finding("roce.setting_differs", subject, change.wanted, change.found));
  else if (!seen.guarded.empty())
    plan.findings.push_back(
        make_finding("stage.own_interface", subject, change.wanted, seen.netdev + " " + seen.guarded));
  else
    for (const RoceDeed& deed : change.deeds) plan.actions.push_back({line_of(deed)});
}

StepPlan plan_roce(const Desired& desired, const json& observed) {
  StepPlan plan;
  for (const DesiredRail& rail : desired.rails) {
    if (!observed.contains(rail.name)) continue;
    const auto seen = observed.at(rail.name).get<SeenRoce>();
    if (!seen.present) continue;  // the network step says so
    const std::size_t before = plan.actions.size();
    for (const RoceChange& change : roce_changes(rail.roce, seen)) plan_change(desired, seen, change, plan);
    if (plan.actions.size() > before) plan.actions.push_back({"# " + seen.netdev + ": RoCE settings, " + not_kept});
    plan.kept = plan.kept && rail.roce == RoceSpec{};
    if (!seen.gid_cause.empty())
      plan.findings.push_back(make_finding(seen.gid_cause, subject_of(desired, seen),
                                           "a RoCE v2 GID of " + format_ipv4(rail.address), seen.gid_found));
  }
  return plan;
}

Status do_one(StepContext& context, const RoceDeed& deed) {
  return deed.arguments.empty() ? context.host.write_in_place(deed.path, deed.value)
                                : run_checked(context, deed.arguments, 60);
}

/// One setting that is refused does not hold up the others.
Status apply_roce(StepContext& context, const json& observed) {
  Status first;
  for (const DesiredRail& rail : context.desired.rails) {
    if (!observed.contains(rail.name)) continue;
    const auto seen = observed.at(rail.name).get<SeenRoce>();
    if (!seen.present || !may_change(context.desired, seen)) continue;
    for (const RoceChange& change : roce_changes(rail.roce, seen))
      for (const RoceDeed& deed : change.deeds) {
        const Status status = do_one(context, deed);
        if (status) continue;
        context.findings.push_back(make_finding("roce.setting_differs", subject_of(context.desired, seen),
                                                change.wanted, status.error().what));
        if (first) first = status;
        break;
      }
  }
  return first;
}

}  // namespace

const Step roce_step{"roce", observe_roce, plan_roce, apply_roce};

}  // namespace fabricgate::bootstrap
