#include "launch/accept/share.hpp"

#include <algorithm>

#include "results/json_text.hpp"

namespace fabricgate::launch {
namespace {

using bootstrap::NodeReport;
using bootstrap::NodeState;
using bootstrap::StepState;
using nlohmann::json;

constexpr StepState step_states[] = {StepState::unchanged, StepState::planned, StepState::applied, StepState::failed,
                                     StepState::blocked};

/// What is not known has failed.
StepState step_state(const std::string& text) {
  for (const StepState each : step_states)
    if (text == bootstrap::to_string(each)) return each;
  return StepState::failed;
}

json to_json_value(const NodeReport& node) {
  json findings = json::array();
  for (const Finding& finding : node.findings) findings.push_back(fabricgate::to_json_value(finding));
  json steps = json::array();
  for (const bootstrap::StepReport& step : node.steps) steps.push_back({{"id", step.id}, {"state", to_string(step.state)}});
  return {{"node", node.node},
          {"name", node.name},
          {"state", to_string(node.state)},
          {"reason", node.reason},
          {"commands", node.commands},
          {"hostname", node.hostname},
          {"machine", node.machine},
          {"findings", std::move(findings)},
          {"steps", std::move(steps)},
          {"versions", node.facts ? json(node.facts->versions) : json(nullptr)},
          {"clock_offset_s", node.clock_offset_s ? json(*node.clock_offset_s) : json(nullptr)},
          {"clock_error_s", node.clock_error_s},
          {"started_unix_s", node.started_unix_s},
          {"elapsed_s", node.elapsed_s}};
}

NodeReport node_from_json(const json& in) {
  NodeReport node;
  node.node = whole_from<std::size_t>(in, "node");
  node.name = in.at("name").get<std::string>();
  const std::string state = in.at("state").get<std::string>();
  for (const NodeState each : bootstrap::node_states)
    if (state == bootstrap::to_string(each)) node.state = each;
  node.reason = in.at("reason").get<std::string>();
  node.commands = in.at("commands").get<std::vector<std::string>>();
  node.hostname = in.at("hostname").get<std::string>();
  node.machine = in.at("machine").get<std::string>();
  for (const json& each : in.at("findings"))
    if (auto finding = finding_from_json(each)) node.findings.push_back(std::move(*finding));
  for (const json& each : in.at("steps")) {
    bootstrap::StepReport& step = node.steps.emplace_back();
    step.id = each.at("id").get<std::string>();
    step.state = step_state(each.at("state").get<std::string>());
  }
  if (!in.at("versions").is_null())
    node.facts.emplace().versions = in.at("versions").get<std::map<std::string, std::string>>();
  if (!in.at("clock_offset_s").is_null()) node.clock_offset_s = in.at("clock_offset_s").get<double>();
  node.clock_error_s = in.at("clock_error_s").get<double>();
  node.started_unix_s = in.at("started_unix_s").get<double>();
  node.elapsed_s = in.at("elapsed_s").get<double>();
  return node;
}

}  // namespace

std::string to_text(const std::vector<NodeReport>& nodes) {
  json out = json::array();
  for (const NodeReport& node : nodes) out.push_back(to_json_value(node));
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::vector<NodeReport>> nodes_from_text(const std::string& text) {
  try {
    std::vector<NodeReport> nodes;
    for (const json& each : json::parse(text)) nodes.push_back(node_from_json(each));
    return nodes;
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("share of a stage: ") + e.what(), e.id};
  }
}

Shares join_shares(const std::vector<std::optional<std::string>>& texts, bool dry_run) {
  Shares out{.report = {.dry_run = dry_run}, .lost = {}};
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    auto nodes = texts[rank] ? nodes_from_text(*texts[rank]) : Result<std::vector<NodeReport>>(Error{});
    if (!nodes) out.lost.push_back(static_cast<int>(rank));
    if (nodes) std::move(nodes->begin(), nodes->end(), std::back_inserter(out.report.nodes));
  }
  std::stable_sort(out.report.nodes.begin(), out.report.nodes.end(),
                   [](const NodeReport& a, const NodeReport& b) { return a.node < b.node; });
  bootstrap::judge_versions(out.report);
  bootstrap::judge_identities(out.report);
  return out;
}

ExitCode exit_code_of(const bootstrap::StageReport& report) {
  Verdict verdict = Verdict::pass;
  for (const NodeReport& node : report.nodes) {
    if (node.state == NodeState::planned) continue;  // what is to be done is no fault
    const bool ready = node.state == NodeState::unchanged || node.state == NodeState::changed;
    const Verdict shut = node.state == NodeState::interrupted ? Verdict::inconclusive : Verdict::fail;
    verdict = worse(verdict, ready ? worst(node.findings) : shut);
  }
  return report.nodes.empty() ? ExitCode::inconclusive : exit_code(verdict);
}

}  // namespace fabricgate::launch
