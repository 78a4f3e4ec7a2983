#include "bootstrap/agent/serve.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {
namespace {

std::vector<std::string> commands_of(const StepPlan& plan) {
  std::vector<std::string> out;
  for (const Action& action : plan.actions) out.push_back(action.command);
  return out;
}

/// Without the text that a person would paste behind it.
std::string first_line(const std::string& command) {
  return command.substr(0, command.find('\n'));
}

StepState state_of(const std::vector<Finding>& findings, StepState otherwise) {
  const Verdict verdict = worst(findings);
  if (verdict == Verdict::blocked) return StepState::blocked;
  return verdict == Verdict::pass || verdict == Verdict::warn || verdict == Verdict::skip ? otherwise
                                                                                          : StepState::failed;
}

void fail(StepReport& report, const Error& error, const Desired& desired) {
  report.error = error.what;
  if (opens_gate(worst(report.findings)))
    report.findings.push_back(
        make_finding(error.native == ENOSPC && error.kind == ErrorKind::io ? "stage.disk_full" : "stage.step_failed",
                     {.host = desired.node}, "step " + report.id + " done", error.what));
  report.state = state_of(report.findings, StepState::failed);
}

bool chosen(const AgentRequest& request, const Step& step) {
  const auto& names = request.only_steps;
  return names.empty() || std::find(names.begin(), names.end(), step.id) != names.end();
}

/// A driver may be what the interface of a rail is waiting for.
bool brings_interfaces(const Step& step) {
  for (const Step* one : {&packages_step, &driver_step, &modules_step})
    if (step.id == std::string_view(one->id)) return true;
  return false;
}

struct Runner {
  const AgentRequest& request;
  const Desired& desired;
  Host& host;
  Deadline deadline;
  std::vector<std::string> busy;
  Journal journal;
  const std::function<bool()>& stop;
  std::optional<bool> rail_absent = {};

  /// Looks once, before the first step that brings no interface.
  bool waits(const Step& step) {
    if (brings_interfaces(step) || undoes(request.op)) return false;
    if (!rail_absent) rail_absent = lacks_rail();
    return *rail_absent;
  }

  StepReport run(const Step& step) {
    StepReport report{.id = step.id, .state = StepState::unchanged};
    StepContext context{.desired = desired, .host = host, .deadline = deadline, .stop = stop};
    auto observed = step.observe(context);
    if (!observed) return fail(report, observed.error(), desired), report;
    const StepPlan plan = step.plan(desired, *observed);
    report.commands = commands_of(plan);
    report.findings = plan.findings;
    report.kept = plan.kept;
    report.state = state_of(plan.findings, plan.actions.empty() ? StepState::unchanged : StepState::planned);
    if (changes_node(request.op) && !plan.actions.empty() && !waits(step)) apply(step, context, *observed, report);
    if (report.error.empty() && (report.state == StepState::failed || report.state == StepState::blocked))
      report.error = first_reason(report);
    return report;
  }

 private:
  /// Of the network step, when it was asked for: what cannot be looked at is that step's own failure.
  bool lacks_rail() {
    if (!chosen(request, network_step)) return false;
    StepContext context{.desired = desired, .host = host, .deadline = deadline, .stop = stop};
    const auto observed = network_step.observe(context);
    if (!observed) return false;
    const auto findings = network_step.plan(desired, *observed).findings;
    return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.cause == "link.absent"; });
  }

  static std::string first_reason(const StepReport& report) {
    for (const Finding& finding : report.findings)
      if (!opens_gate(finding.verdict))
        return finding.cause + ": " + to_string(finding.subject) + ": expected " + finding.expected + ", found " +
               finding.found;
    return "";
  }

  void apply(const Step& step, StepContext& context, const nlohmann::json& observed, StepReport& report) {
    if (!busy.empty()) {
      for (const std::string& reason : busy)
        report.findings.push_back(
            make_finding("stage.node_busy", {.host = desired.node}, "a node nobody uses", reason));
      report.state = state_of(report.findings, StepState::blocked);
      return;
    }
    if (deadline.passed())
      return fail(report, {ErrorKind::timeout, "deadline of the request passed before the step", 0}, desired);
    if (auto status = journal.started(step.id, report.commands); !status) return fail(report, status.error(), desired);
    const Status status = step.apply(context, observed);
    report.findings.insert(report.findings.end(), context.findings.begin(), context.findings.end());
    if (!status)
      fail(report, status.error(), desired);
    else
      verify(step, context, report);
    if (auto written = journal.finished(report); !written) fail(report, written.error(), desired);
  }

  void verify(const Step& step, StepContext& context, StepReport& report) {
    auto observed = step.observe(context);
    if (!observed) return fail(report, observed.error().with("verify"), desired);
    const StepPlan left = step.plan(desired, *observed);
    // a setting that waits for a reset; what fails besides may be this process's own, as limits that it was started with
    for (const Finding& finding : left.findings)
      if (finding.verdict == Verdict::blocked) report.findings.push_back(finding);
    if (!left.actions.empty())
      return fail(
          report,
          {ErrorKind::native, "verify: still to do after it was done: " + first_line(left.actions.front().command), 0},
          desired);
    report.state = state_of(report.findings, StepState::applied);
  }
};

/// What is taken away goes in the other order: VFs after the unit that would bring them back.
std::vector<const Step*> steps_of(const AgentRequest& request) {
  std::vector<const Step*> out;
  for (const Step& step : steps()) {
    const Step* one = undoes(request.op) ? step.undo : &step;
    if (one != nullptr && chosen(request, step)) out.push_back(one);
  }
  if (undoes(request.op)) std::reverse(out.begin(), out.end());
  return out;
}

Status check_steps(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::none_of(steps().begin(), steps().end(), [&](const Step& step) { return name == step.id; }))
      return Error{ErrorKind::parse, "only_steps: no step '" + name + "'", 0};
  return {};
}

/// A request that cannot do anything, with the reason as a step that `desired`'s node failed in.
void refuse(AgentAnswer& answer, const char* doing, const Error& error, const Desired& desired) {
  answer.error = error.what;
  StepReport report{.id = doing};
  fail(report, error, desired);
  answer.steps.push_back(report);
}

}  // namespace

AgentAnswer serve(const AgentRequest& request, Host& host, const std::function<bool()>& stop) {
  const Deadline deadline = Deadline::in_seconds(request.deadline_s);
  AgentAnswer answer;
  answer.facts = observe(host, request.facts_request, deadline);
  if (request.op == AgentOp::facts) return answer;
  auto desired = desired_from_json(request.desired);
  if (!desired) return answer.error = desired.error().what, answer;
  if (auto status = check_steps(request.only_steps); !status) return answer.error = status.error().what, answer;
  Claimed claimed;  // until the last step is done
  if (changes_node(request.op) && !desired->spool_dir.empty()) {
    auto taken = claim_node(desired->spool_dir, request.occupant, request.ended_run);
    if (!taken) return refuse(answer, "claim", taken.error(), *desired), answer;
    claimed = std::move(*taken);
    if (claimed.other) return answer.in_use = claimed.other, answer;
  }
  Runner runner{request,  *desired, host,
                deadline, {},       Journal(changes_node(request.op) ? request.journal : "", request.run),
                stop};
  if (!request.allow_busy) runner.busy = busy_reasons(*desired, *answer.facts);
  if (auto status = runner.journal.open(host); !status)
    return refuse(answer, "journal", status.error(), *desired), answer;
  for (const Step* step : steps_of(request)) {
    if (stop && stop()) {
      answer.error = std::string("told to end before step ") + step->id;
      break;
    }
    answer.steps.push_back(runner.run(*step));
  }
  return answer;
}

}  // namespace fabricgate::bootstrap
