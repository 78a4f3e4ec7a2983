#include <algorithm>

#include "bootstrap/steps/step.hpp"
#include "results/json_text.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

/// Of a program: not the one of nothing at all.
bool is_checksum(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos && text.find_first_not_of('0') != std::string::npos;
}

/// Empty, or why the steps are not those of a whole stage: every one there is, and the programs deployed.
std::string steps_problem(const nlohmann::json& sample) {
  const auto steps = sample.find("steps");
  if (steps == sample.end() || !steps->is_array()) return "sample lists no steps";
  std::vector<std::string> left{"deploy"};
  bool done = false;
  for (const bootstrap::Step& step : bootstrap::steps()) left.push_back(step.id);
  for (const auto& step : *steps) {
    const std::string id = text_under(step, "id"), state = text_under(step, "state");
    if (state != "done" && state != "unchanged") return "step '" + id + "' is '" + state + "'";
    std::erase(left, id);
    done = done || state == "done";
  }
  if (!left.empty()) return "step '" + left.back() + "' is not told of";
  const auto changed = sample.find("changed"), lost = sample.find("lost_at_reboot");
  const bool told = changed != sample.end() && lost != sample.end() && lost->is_boolean();
  return told && *changed == done ? "" : "what was changed and what the steps did contradict each other";
}

}  // namespace

/// Sample: {"state": "ready", "changed": true|false, "lost_at_reboot": true|false, "steps": [{"id": …, "state": "done" |
/// "unchanged"}, …], "agent_sha256", "rank_sha256"}. Ready, every step done or unchanged and both programs known is a pass. "clock_offset_s" (node
/// minus head, null where unknown: host.facts has it too) is known to "clock_error_s". Anything else is judged by the findings
/// stage wrote into the record.
Judgement judge_stage_node(const JudgeContext& context, const Record& record) {
  const nlohmann::json& sample = record.sample;
  if (!sample.is_object()) return unusable(record, "sample is not an object");
  const std::string state = text_under(sample, "state");
  if (state != "ready") return unusable(record, "staging ended in state '" + state + "'");
  if (const std::string problem = steps_problem(sample); !problem.empty()) return unusable(record, problem);
  for (const char* program : {"agent_sha256", "rank_sha256"})
    if (!is_checksum(text_under(sample, program))) return unusable(record, std::string(program) + " is no checksum of a program");
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
