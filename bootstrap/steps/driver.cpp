/// The RDMA driver stack: the declared source and release installed, and its modules the ones that run. Whatever would
/// make that fail half-way is looked for first.
#include "bootstrap/steps/driver.hpp"

#include "bootstrap/steps/removal.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

bool wanted(const Desired& desired) {
  return desired.driver.owner == Owner::host && !desired.driver.source.empty();
}

Result<json> observe_driver(StepContext& context) {
  if (!wanted(context.desired)) return json::object();
  SeenDriver seen;
  if (auto status = see_installed(context, seen); !status) return status.error();
  see_modules(context, seen);
  const bool install = needs_install(context.desired.driver, seen);
  if (install) seen.obstacles = see_obstacles(context);
  if (install || !seen.stale.empty()) see_users(context, seen);
  return json(seen);
}

bool writes_repository(const Desired& desired, const SeenDriver& seen) {
  const std::string text = repository_text(desired.driver, seen);
  return !text.empty() && text != seen.repository;
}

void plan_install(const Desired& desired, const SeenDriver& seen, StepPlan& plan) {
  if (writes_repository(desired, seen))
    plan.actions.push_back(write_action(repository_path(seen), repository_text(desired.driver, seen)));
  if (!needs_install(desired.driver, seen)) return;
  const Installation todo = installation_of(desired.driver, seen);
  for (const CommandLine& command : todo.commands) plan.actions.push_back({shell_line(command)});
  if (!todo.cleanup.empty()) plan.actions.push_back({shell_line(todo.cleanup)});
}

StepPlan plan_driver(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (observed.empty()) return plan;
  const auto seen = observed.get<SeenDriver>();
  const std::string release =
      desired.driver.source + (desired.driver.version.empty() ? "" : " ") + desired.driver.version;
  for (const Obstacle& obstacle : seen.obstacles)
    plan.findings.push_back(
        make_finding(obstacle.cause, {.host = desired.node, .file = obstacle.file}, obstacle.expected, obstacle.found));
  if (const std::string text = cannot_install(desired.driver, seen); !text.empty())
    plan.findings.push_back(make_finding("driver.version_mismatch", {.host = desired.node}, release, text));
  if (!plan.findings.empty()) return plan;
  plan_install(desired, seen, plan);
  const bool install = needs_install(desired.driver, seen);
  for (const Finding& finding : forbidden_reload(desired, seen)) plan.findings.push_back(finding);
  if (!seen.stale.empty())
    for (const CommandLine& command : reload_commands(desired.driver, seen))
      plan.actions.push_back({shell_line(command)});
  if (install && seen.stale.empty() && desired.driver.source != "inbox" && desired.driver.reload != Reload::never)
    plan.actions.push_back({shell_line({openibd, "restart"}) + "  # when other modules are installed than loaded"});
  if (!seen.gpudirect.empty()) {
    Finding finding =
        make_finding("driver.peermem_missing", {.host = desired.node}, "GPUDirect RDMA possible", seen.gpudirect);
    finding.verdict = Verdict::warn;  // traffic through host memory is slower, not wrong
    plan.findings.push_back(finding);
  }
  return plan;
}

Status apply_driver(StepContext& context, const json& observed) {
  if (observed.empty()) return {};
  const Desired& desired = context.desired;
  auto seen = observed.get<SeenDriver>();
  if (!seen.obstacles.empty() || !cannot_install(desired.driver, seen).empty()) return {};
  if (writes_repository(desired, seen))
    if (auto status = write_checked(context, repository_path(seen), repository_text(desired.driver, seen)); !status)
      return status;
  if (needs_install(desired.driver, seen)) {
    if (auto status = install_driver(context, seen); !status) return status;
    auto now = observe_driver(context);
    if (!now) return now.error();
    seen = now->get<SeenDriver>();
    if (needs_install(desired.driver, seen)) return {};  // verification says so
  }
  return reload_driver(context, seen);
}

Result<json> observe_left_repository(StepContext& context) {
  SeenDriver apt{.manager = "apt"}, dnf{.manager = "dnf"};
  return observe_own_files(context.host, {repository_path(apt), repository_path(dnf)}, {},
                           "packages that were installed stay");
}

const Step driver_undo{"driver", observe_left_repository, plan_removal, apply_removal};

}  // namespace

const Step driver_step{"driver", observe_driver, plan_driver, apply_driver, &driver_undo};

}  // namespace fabricgate::bootstrap
