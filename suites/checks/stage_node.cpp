#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

/// Sample: {"state": "ready", "changed": true|false, "steps": [{"id": …, "state": "done" | "unchanged"}, …]}. Ready and
/// every step done or unchanged is a pass. Anything else is judged by the findings stage wrote into the record.
Judgement judge_stage_node(const JudgeContext&, const Record& record) {
  const nlohmann::json& sample = record.sample;
  if (!sample.is_object()) return unusable(record, "sample is not an object");
  const auto state = sample.find("state");
  if (state == sample.end() || !state->is_string()) return unusable(record, "sample has no state");
  if (*state != "ready") return unusable(record, "staging ended in state '" + state->get<std::string>() + "'");
  const auto steps = sample.find("steps");
  if (steps == sample.end() || !steps->is_array() || steps->empty()) return unusable(record, "sample lists no steps");
  for (const auto& step : *steps) {
    const auto step_state = step.is_object() ? step.find("state") : step.end();
    if (!step.is_object() || step_state == step.end() || !step_state->is_string())
      return unusable(record, "a step of the sample has no state");
    if (*step_state != "done" && *step_state != "unchanged")
      return unusable(record, "step " + step.value("id", nlohmann::json("?")).dump() + " is '" + step_state->get<std::string>() + "'");
  }
  return decide({});
}

}  // namespace fabricgate::suites
