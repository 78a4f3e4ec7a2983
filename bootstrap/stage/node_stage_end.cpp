// How the conversation with a node ends: its state and reason.
#include <algorithm>

#include "bootstrap/stage/node_stage.hpp"

namespace fabricgate::bootstrap {

/// A session that did not run to its end, or that was to end early, is a finding.
void NodeStage::explain(const Ended& session) {
  interrupted_ = interrupted_ || session.interrupted;
  if (session.finding) add(*session.finding);
  if (interrupted_)
    return add(make_finding("launch.interrupted", {.host = report_.name}, "the node staged",
                            !begun_          ? "interrupted before anything was done on this node"
                            : !report_.facts ? "interrupted before its agent answered: it finishes the step it is in"
                                             : "interrupted before everything was in place"));
  if (session.status && !report_.facts && opens_gate(worst(report_.findings))) fail_agent("the session ended before the agent had answered");
  if (session.status || session.finding) return;
  if (phase_ == Phase::look || phase_ == Phase::facts_again)
    fail_agent(session.status.error().what);
  else if (phase_ != Phase::clean)
    add(make_finding("stage.step_failed", {.host = report_.name}, "staging done", session.status.error().what));
}

NodeState NodeStage::state_after(const Ended& session) const {
  const Verdict verdict = worst(report_.findings);
  const auto& finding = session.finding;
  const bool reached = !finding || finding->cause == "ssh.host_key_changed" || finding->cause == "ssh.sudo_refused";
  if (!reached) return NodeState::unreachable;
  if (verdict == Verdict::blocked || (has(StepState::blocked) && verdict != Verdict::fail)) return NodeState::blocked;
  if (interrupted_ && verdict != Verdict::fail && !has(StepState::failed)) return NodeState::interrupted;
  if (!opens_gate(verdict) || !session.status || has(StepState::failed)) return NodeState::failed;
  return has(StepState::applied)   ? NodeState::changed
         : has(StepState::planned) ? NodeState::planned
                                   : NodeState::unchanged;
}

void NodeStage::conclude(const Ended& session) {
  explain(session);
  report_.steps.push_back(deploy_);
  report_.state = state_after(session);
  const Verdict verdict = worst(report_.findings);
  for (const Finding& each : report_.findings)
    if (each.verdict == verdict && !opens_gate(verdict) && report_.reason.empty())
      report_.reason = each.cause + ": " + each.found;
  if (report_.reason.empty() && !session.status) report_.reason = session.status.error().what;
  journal({{"event", "ended"}, {"state", to_string(report_.state)}, {"reason", report_.reason}});
}

}  // namespace fabricgate::bootstrap
