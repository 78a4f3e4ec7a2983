#include "bootstrap/stage/stage.hpp"

#include <algorithm>

#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/stage/hooks.hpp"
#include "bootstrap/stage/node_stage.hpp"
#include "bootstrap/stage/reboot_nodes.hpp"
#include "bootstrap/steps/step.hpp"
#include "inventory/yaml_reader.hpp"
#include "results/clock.hpp"
#include "results/host_range.hpp"

namespace fabricgate::bootstrap {
namespace {

/// This process's part of the nodes, each with a report to fill.
std::vector<NodeReport> share_of(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                 const StageOptions& options) {
  std::vector<NodeReport> reports;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(std::max(1, options.share_count))) != options.share_index)
      continue;
    NodeReport report;
    report.node = nodes[i];
    report.name = inventory.nodes[nodes[i]].name;
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Marks the nodes that the hook calls busy, and returns those to talk to.
std::vector<NodeReport*> free_nodes(const StagePlan& plan, std::vector<NodeReport>& reports, Deadline deadline,
                                    const NodeDone& done) {
  std::vector<std::size_t> nodes;
  for (const NodeReport& report : reports) nodes.push_back(report.node);
  std::vector<std::optional<std::string>> busy(nodes.size());
  if (!plan.options.allow_busy) busy = ask_busy_hook(plan.inventory, nodes, deadline, plan.options.stop);
  std::vector<NodeReport*> free;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    NodeReport& report = reports[i];
    if (!busy[i]) {
      free.push_back(&report);
      continue;
    }
    report.started_unix_s = unix_now_s();
    report.findings = {make_finding("stage.node_busy", {.host = report.name}, "a node nobody uses", *busy[i])};
    report.state = NodeState::blocked;
    report.reason = "stage.node_busy: " + *busy[i];
    if (done) done(report);
  }
  return free;
}

Status talk(const StagePlan& plan, std::vector<NodeReport>& reports, Deadline deadline, const NodeDone& done) {
  const auto free = free_nodes(plan, reports, deadline, done);
  std::vector<std::unique_ptr<NodeStage>> stages;
  std::vector<NodeJob> jobs;
  for (NodeReport* report : free) {
    stages.push_back(std::make_unique<NodeStage>(plan, *report));
    jobs.push_back(
        {report->node, [stage = stages.back().get()](const CommandResult* previous) { return stage->next(previous); }});
  }
  const auto ended = [&](const SessionOutcome& outcome) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (free[i]->node != outcome.node) continue;
      free[i]->connect_s = outcome.connect_s;
      free[i]->elapsed_s = outcome.total_s;
      if (free[i]->started_unix_s == 0) free[i]->started_unix_s = unix_now_s() - outcome.total_s;
      stages[i]->conclude({outcome.status, outcome.finding, outcome.interrupted});
      if (done) done(*free[i]);
    }
  };
  const auto outcomes = converse(plan.inventory, std::move(jobs), deadline, {ended, plan.options.stop});
  return outcomes ? Status{} : Status(outcomes.error());
}

Status reboot(const StagePlan& plan, std::vector<NodeReport>& reports, Deadline deadline, const NodeDone& done) {
  if (!plan.options.reboot.allowed || plan.dry_run || plan.options.undo || plan.options.share_count > 1) return {};
  const auto again = [&](const std::vector<std::size_t>& nodes) -> Result<std::vector<NodeReport>> {
    std::vector<NodeReport> fresh = share_of(plan.inventory, nodes, plan.options);
    if (auto status = talk(plan, fresh, deadline, done); !status) return status.error();
    return fresh;
  };
  return reboot_nodes(plan, reports, deadline, again);
}

Result<StageReport> work(const Inventory& inventory, const std::vector<std::size_t>& nodes, const StageOptions& options,
                         bool dry_run, Deadline deadline, const NodeDone& done) {
  const double start = unix_now_s();
  if (auto login = check_login(inventory); !login) return login.error();  // before a folder is made
  if (auto named = check_step_names(options.only_steps); !named) return named.error();
  auto plan = make_stage_plan(inventory, options, dry_run);
  if (!plan) return plan.error();
  plan->inputs_held = true;
  StageReport report{.dry_run = dry_run,
                     .agent_sha256 = plan->agent_sha256,
                     .rank_sha256 = plan->rank_sha256,
                     .nodes = share_of(inventory, nodes, options)};
  if (auto status = talk(*plan, report.nodes, deadline, done); !status) return status.error();
  if (auto status = reboot(*plan, report.nodes, deadline, done); !status) return status.error();
  if (options.undo)  // that nodes differ is no matter where nothing is measured
    for (NodeReport& node : report.nodes) node.facts.reset();
  if (options.share_count <= 1) {
    judge_versions(report);
    judge_identities(report);
  }
  report.elapsed_s = unix_now_s() - start;
  return report;
}

}  // namespace

Status check_step_names(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const Step& step : steps()) known.emplace_back(step.id);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{ErrorKind::parse, unknown("step", name, "--steps", known), 0};
  return {};
}

Result<StageReport> plan_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                               const StageOptions& options, Deadline deadline, const NodeDone& done) {
  return work(inventory, nodes, options, true, deadline, done);
}

Result<StageReport> stage_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                const StageOptions& options, Deadline deadline, const NodeDone& done) {
  return work(inventory, nodes, options, false, deadline, done);
}

double longest_s(const Inventory& inventory, std::size_t nodes, const StageOptions& options) {
  const auto window = static_cast<std::size_t>(std::max(1, inventory.ssh.window));
  const double all = (options.node_timeout_s + 2 * inventory.ssh.connect_timeout_s) *
                     static_cast<double>((nodes + window - 1) / window);
  if (!options.reboot.allowed) return all;
  return all + static_cast<double>(options.reboot.wave.most(nodes)) * (2 * all + options.reboot.timeout_s);
}

Result<std::vector<std::size_t>> select_nodes(const Inventory& inventory, const std::string& ranges) {
  std::vector<std::size_t> selected;
  if (ranges.empty()) {
    for (std::size_t i = 0; i < inventory.nodes.size(); ++i) selected.push_back(i);
    return selected;
  }
  const auto names = expand_hosts(ranges);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto node = inventory.find(name);
    if (!node) return Error{ErrorKind::parse, "node '" + name + "' is not in the inventory", 0};
    if (std::find(selected.begin(), selected.end(), *node) == selected.end()) selected.push_back(*node);
  }
  return selected;
}

}  // namespace fabricgate::bootstrap
