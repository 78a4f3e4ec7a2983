#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

/// Sample: {"state": "ready", "changed": true|false, "lost_at_reboot": true|false, "steps": [{"id": …, "state": "done" | "unchanged"}, …]}. Ready and
/// every step done or unchanged is a pass. "clock_offset_s" (node minus head, null where unknown) is known to
/// "clock_error_s". Anything else is judged by the findings stage wrote into the record.
Judgement judge_stage_node(const JudgeContext& context, const Record& record) {
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
  const auto offset = sample.find("clock_offset_s"), error = sample.find("clock_error_s");
  if (offset == sample.end() || offset->is_null()) return decide({});
  const Limit* limit = context.limits.find("clock.offset");
  if (limit == nullptr || !limit->high) return limit_missing(record, "clock.offset");
  if (!offset->is_number() || !within(offset->get<double>(), -1e10, 1e10)) return unusable(record, "clock_offset_s is not a number");
  if (error == sample.end() || !error->is_number() || !within(error->get<double>(), 0, 1e6))
    return unusable(record, "clock_error_s is not a positive number");
  const double surely_off = std::abs(offset->get<double>()) - error->get<double>();
  if (surely_off <= *limit->high) return decide({});
  Subject subject;
  if (!record.hosts.empty()) subject.host = record.hosts[0];
  return decide({make_finding("host.clock_offset", subject, "at most " + time_text(*limit->high), time_text(surely_off))});
}

}  // namespace fabricgate::suites
