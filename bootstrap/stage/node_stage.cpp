#include "bootstrap/stage/node_stage.hpp"

#include <algorithm>

#include "bootstrap/agent/busy.hpp"
#include "bootstrap/command/quote.hpp"
#include "inventory/host/process.hpp"
#include "inventory/observe/identity.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

constexpr double upload_timeout_s = 300, short_timeout_s = 60;
constexpr std::size_t longest_answer = std::size_t{16} << 20;

std::string tail(const std::string& text) {
  constexpr std::size_t shown = 300;
  std::string end = text.size() > shown ? "…" + text.substr(text.size() - shown) : text;
  while (!end.empty() && end.back() == '\n') end.pop_back();
  return end;
}

std::string quoted(const std::vector<std::string>& words) {
  const auto line = quote_command(words);
  return line ? *line : line.error().what;
}

bool packages_changed(const std::vector<StepReport>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const StepReport& step) { return step.id == "packages" && step.state == StepState::applied; });
}

}  // namespace

NodeStage::NodeStage(const StagePlan& plan, NodeReport& report)
    : plan_(plan),
      report_(report),
      nonce_(make_nonce()),
      places_(places_of(plan.inventory.launcher.install_dir, plan.agent_sha256, nonce_, report.name)) {
  deploy_.id = "deploy";
  deploy_.state = StepState::unchanged;
}

std::optional<Command> NodeStage::next(const CommandResult* previous) {
  if (previous == nullptr) {
    begun_ = true;
    report_.started_unix_s = unix_now_s();
    journal({{"event", "started"}, {"op", plan_.dry_run ? "plan" : plan_.options.undo ? "unstage" : "stage"}});
    return ask(task());
  }
  auto command = after(*previous);
  if (!command || phase_ == Phase::clean || !stopping()) return command;
  interrupted_ = true;
  return finish();
}

std::optional<Command> NodeStage::after(const CommandResult& previous) {
  switch (phase_) {
    case Phase::look:
    case Phase::facts_again:
      return after_look(previous);
    case Phase::upload_agent: {
      const Upload sent{plan_.agent, plan_.agent_sha256, spare_ ? places_.spare : places_.agent, 0755};
      if (auto finding = judge_upload(previous, sent, report_.name)) {
        (void)fault(*finding);
        return finish();
      }
      uploaded_agent_ = true;
      return ask(task());
    }
    case Phase::upload_rank:
      if (auto finding = judge_upload(previous, {plan_.rank, plan_.rank_sha256, places_.rank, 0755}, report_.name)) {
        if (fault(*finding)) deploy_.state = StepState::failed;
        return finish();
      }
      look_.rank_sha256 = plan_.rank_sha256;
      return deploy();
    case Phase::link:
      if (previous.exit_code != 0 &&
          fault(make_finding("stage.step_failed", {.host = report_.name, .file = places_.agent_link},
                             "link to " + places_.agent, tail(previous.err))))
        deploy_.state = StepState::failed;
      look_.linked = true;
      return deploy();
    case Phase::clean:
    case Phase::done:
      break;
  }
  return std::nullopt;
}

AgentOp NodeStage::task() const {
  if (plan_.options.undo) return plan_.dry_run ? AgentOp::plan_undo : AgentOp::undo;
  return plan_.dry_run ? AgentOp::plan : AgentOp::apply;
}

std::optional<Command> NodeStage::ask(AgentOp op) {
  const Desired wanted = desired(plan_.inventory, report_.node);
  AgentRequest request;
  request.nonce = nonce_;
  request.op = op;
  request.desired = to_json_value(wanted);
  for (const auto& [key, value] : wanted.sysctl) request.facts_request.sysctl_keys.push_back(key);
  request.facts_request.free_space_paths = {wanted.install_dir, wanted.spool_dir};
  request.facts_request.version_prefixes = {wanted.mpi_prefix};
  request.run = plan_.options.run;
  request.occupant = occupant();
  request.ended_run = ended_run_;
  if (changes_node(op)) request.journal = wanted.install_dir + "/journal/stage.jsonl";
  request.only_steps = plan_.options.only_steps;
  request.allow_busy = plan_.options.allow_busy;
  request.deadline_s = plan_.options.node_timeout_s;
  request.watched = plan_.inputs_held;
  phase_ = op == AgentOp::facts ? Phase::facts_again : Phase::look;
  output_.clear();
  heard_unix_s_ = 0;
  asked_unix_s_ = unix_now_s();
  Command command = look_command(places_, plan_.agent_sha256, nonce_, frame_request(request));
  command.hold_input = true;
  command.timeout_s = plan_.options.node_timeout_s + 15;  // the agent's own deadline comes first and says more
  command.sink = [this](std::string_view chunk) -> Status {
    if (output_.size() + chunk.size() > longest_answer)
      return Error{ErrorKind::io, "the agent's answer is longer than 16 MiB", 0};
    output_ += chunk;
    if (heard_unix_s_ == 0 && parse_look(output_, nonce_)) heard_unix_s_ = unix_now_s();
    return {};
  };
  return command;
}

std::optional<Command> NodeStage::after_look(const CommandResult& result) {
  const auto look = parse_look(output_, nonce_);
  if (!look) {
    fail_agent("exit code " + std::to_string(result.exit_code) + ", no answer; stderr: " + tail(result.err));
    return finish();
  }
  look_ = *look;
  if (look_.hostname.empty()) {
    fail_agent("the login shell's `uname -n` says nothing (exit code " + std::to_string(result.exit_code) + "); stderr: " + tail(result.err));
    return finish();
  }
  if (look_.clock_unix_s && heard_unix_s_ > 0 && !report_.clock_offset_s) {
    report_.clock_offset_s = *look_.clock_unix_s - (asked_unix_s_ + heard_unix_s_) / 2;
    report_.clock_error_s = (heard_unix_s_ - asked_unix_s_) / 2;
  }
  report_.hostname = look_.hostname;
  report_.machine = look_.machine;
  if (result.exit_code == exit_other_machine) {
    for (Finding& finding : judge_names({{report_.name, look_.hostname, look_.machine}})) add(std::move(finding));
    return finish();
  }
  if (result.exit_code != exit_no_agent) return take_answer(result);
  if (uploaded_agent_) {
    fail_agent("the agent was uploaded and verified, but is not there or cannot be executed");
    return finish();
  }
  spare_ = leaves_nothing();
  phase_ = Phase::upload_agent;
  return upload(plan_.agent, plan_.agent_sha256, spare_ ? places_.spare : places_.agent);
}

std::optional<Command> NodeStage::take_answer(const CommandResult& result) {
  const auto json = extract_answer(output_, nonce_);
  const auto answer = json ? answer_from_json(*json) : Result<AgentAnswer>(json.error());
  if (!answer) {
    fail_agent("exit code " + std::to_string(result.exit_code) + ": " + answer.error().what +
               "; stderr: " + tail(result.err));
    return finish();
  }
  if (answer->facts) report_.facts = answer->facts;
  if (phase_ == Phase::facts_again) return finish();
  if (answer->in_use) return refuse_foreign(*answer->in_use);
  report_.steps = answer->steps;
  for (const StepReport& step : answer->steps) {
    report_.findings.insert(report_.findings.end(), step.findings.begin(), step.findings.end());
    report_.commands.insert(report_.commands.end(), step.commands.begin(), step.commands.end());
    journal({{"event", "step"}, {"id", step.id}, {"state", to_string(step.state)}, {"error", step.error}});
  }
  if (!answer->error.empty()) fail_agent(answer->error);
  if (refuse_busy()) return finish();
  if (plan_.options.undo) return finish();
  plan_deploy();
  if (plan_.dry_run || stopped_) return finish();
  return deploy();
}

Occupant NodeStage::occupant() const {
  const StageOptions& options = plan_.options;
  const bool leads_here = options.head.empty();
  return {.run = options.run,
          .head = leads_here ? own_host_name() : options.head,
          .head_process = leads_here ? process_mark() : "",
          .since_unix_s = report_.started_unix_s,
          .lease_s = options.lease_s};
}

/// No option allows this: two runs at once would spoil each other's measurements and blame healthy parts. Where the
/// other was led from this machine and its process is gone, nobody waits for its lease to end.
std::optional<Command> NodeStage::refuse_foreign(const Holder& holder) {
  if (ended_run_.empty() && is_gone(holder.occupant.head_process)) {
    ended_run_ = holder.occupant.run;
    return ask(task());
  }
  add(make_finding("stage.node_busy", {.host = report_.name}, "a node no other run has", to_string(holder)));
  return finish();
}

bool NodeStage::refuse_busy() {
  if (plan_.options.allow_busy || !report_.facts) return false;
  const auto reasons = busy_reasons(desired(plan_.inventory, report_.node), *report_.facts);
  for (const std::string& reason : reasons) {
    Finding finding = make_finding("stage.node_busy", {.host = report_.name}, "a node nobody uses", reason);
    if (std::find(report_.findings.begin(), report_.findings.end(), finding) == report_.findings.end())
      add(std::move(finding));
  }
  return !reasons.empty();
}

/// The lines a person would type for what is not deployed yet.
void NodeStage::plan_deploy() {
  if (uploaded_agent_ || spare_)
    deploy_.commands.push_back(quoted({"install", "-D", "-m", "0755", "fabricgate-agent", places_.agent}));
  if (plan_.rank && look_.rank_sha256 != plan_.rank_sha256)
    deploy_.commands.push_back(quoted({"install", "-D", "-m", "0755", "fabricgate-rank", places_.rank}));
  if (!look_.linked) deploy_.commands.push_back(quoted({"ln", "-sfn", places_.agent, places_.agent_link}));
  if (!deploy_.commands.empty()) deploy_.state = plan_.dry_run ? StepState::planned : StepState::applied;
  report_.commands.insert(report_.commands.end(), deploy_.commands.begin(), deploy_.commands.end());
}

std::optional<Command> NodeStage::deploy() {
  if (plan_.rank && look_.rank_sha256 != plan_.rank_sha256) {
    phase_ = Phase::upload_rank;
    return upload(plan_.rank, plan_.rank_sha256, places_.rank);
  }
  if (!look_.linked) {
    phase_ = Phase::link;
    return Command{.argv = {"/bin/sh", "-c", "mkdir -p \"${2%/*}\" && ln -sfn \"$1\" \"$2\"", "link", places_.agent,
                            places_.agent_link},
                   .timeout_s = short_timeout_s,
                   .doing = "linking " + places_.agent_link};
  }
  if (packages_changed(report_.steps)) return ask(AgentOp::facts);
  return finish();
}

std::optional<Command> NodeStage::upload(const std::shared_ptr<const std::string>& content, const std::string& sha256,
                                         const std::string& path) {
  return upload_command({content, sha256, path, 0755}, upload_timeout_s);
}

std::optional<Command> NodeStage::finish() {
  phase_ = Phase::done;
  if (!spare_) return std::nullopt;
  phase_ = Phase::clean;
  return Command{.argv = {"rm", "-rf", "--", places_.spare.substr(0, places_.spare.rfind('/'))},
                 .timeout_s = short_timeout_s};
}

void NodeStage::add(Finding finding) {
  report_.findings.push_back(std::move(finding));
}

/// A failure while all must end is no fault of the node: false then.
bool NodeStage::fault(Finding finding) {
  if (stopping()) return interrupted_ = true, false;
  add(std::move(finding));
  return true;
}

void NodeStage::fail_agent(const std::string& found) {
  stopped_ = true;
  (void)fault(make_finding("stage.agent_failed", {.host = report_.name, .file = spare_ ? places_.spare : places_.agent},
                           "an answer of the agent", found));
}

void NodeStage::journal(const nlohmann::json& entry) const {
  if (plan_.options.run_folder.empty()) return;
  nlohmann::json line = entry;
  line["time_unix_s"] = unix_now_s();
  line["run"] = plan_.options.run;
  // A journal that cannot be written costs only the account of what happened; the state is always found by looking.
  (void)append_line(plan_.options.run_folder + "/journal/" + report_.name + ".jsonl",
                    line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), false);
}

bool NodeStage::has(StepState state) const {
  return std::any_of(report_.steps.begin(), report_.steps.end(),
                     [&](const StepReport& step) { return step.state == state; });
}

}  // namespace fabricgate::bootstrap
