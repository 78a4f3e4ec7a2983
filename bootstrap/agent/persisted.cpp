#include "bootstrap/agent/persisted.hpp"

#include <algorithm>

#include "bootstrap/steps/persist.hpp"

namespace fabricgate::bootstrap {
namespace {

AgentRequest request_for(const char* step, const Desired& desired, double deadline_s) {
  return {.nonce = "0",
          .op = AgentOp::apply,
          .desired = fabricgate::to_json_value(desired),
          .run = "boot",
          .occupant = {.run = "boot"},
          .only_steps = {step},
          .allow_busy = true,
          .deadline_s = deadline_s};
}

/// The answer's steps; a request that was not served at all is a step that failed.
std::vector<StepReport> steps_of(const AgentAnswer& answer, const char* step) {
  if (!answer.steps.empty()) return answer.steps;
  const std::string reason = answer.in_use ? to_string(*answer.in_use) : answer.error;
  return {{.id = step, .state = StepState::failed, .error = reason}};
}

}  // namespace

Result<std::vector<StepReport>> apply_persisted(Host& host, const std::string& path, double deadline_s) {
  auto text = host.read(path);
  if (!text) return text.error();
  auto persisted = persisted_from_text(*text);
  if (!persisted) return persisted.error().with(path);
  std::vector<StepReport> out;
  for (const auto& [step, rails] : {std::pair("sriov", &persisted->sriov), std::pair("network", &persisted->network)}) {
    if (rails->empty()) continue;
    const AgentAnswer answer = serve(request_for(step, with_rails(persisted->desired, *rails), deadline_s), host);
    for (const StepReport& report : steps_of(answer, step)) out.push_back(report);
  }
  return out;
}

std::string to_text(const std::vector<StepReport>& steps) {
  std::string out;
  for (const StepReport& step : steps) {
    out += step.id + ": " + to_string(step.state) + (step.error.empty() ? "" : ": " + step.error) + "\n";
    for (const std::string& command : step.commands) out += "    " + command + "\n";
  }
  return out;
}

bool all_done(const std::vector<StepReport>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const StepReport& step) {
    return step.state == StepState::unchanged || step.state == StepState::applied;
  });
}

}  // namespace fabricgate::bootstrap
