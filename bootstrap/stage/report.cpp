#include "bootstrap/stage/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bootstrap/stage/fold_plans.hpp"
#include "bootstrap/steps/step.hpp"
#include "inventory/desired/desired.hpp"
#include "inventory/observe/identity.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

bool ready(NodeState state) {
  return state == NodeState::unchanged || state == NodeState::changed;
}

/// A plan or stage that will install packages, an interrupted one, or a node without facts, says nothing about versions
/// yet.
bool tells_versions(const NodeReport& node) {
  return node.facts && node.state != NodeState::interrupted &&
         std::none_of(node.steps.begin(), node.steps.end(),
                      [](const StepReport& step) { return step.id == "packages" && step.state == StepState::planned; });
}

std::string version_of(const NodeReport& node, const std::string& what) {
  const auto found = node.facts->versions.find(what);
  return found == node.facts->versions.end() || found->second.empty() ? "none" : found->second;
}

/// The version of most nodes; of equal counts the one that an earlier node has.
std::string majority(const StageReport& report, const std::string& what) {
  std::map<std::string, int> counts;
  for (const NodeReport& node : report.nodes)
    if (tells_versions(node)) ++counts[version_of(node, what)];
  std::string best;
  for (const NodeReport& node : report.nodes)
    if (tells_versions(node))
      if (const auto version = version_of(node, what); best.empty() || counts[version] > counts[best]) best = version;
  return best;
}

const char* word(StepState state) {
  return state == StepState::applied ? "done" : to_string(state);
}

/// A record's verdict is never better than its state.
Verdict verdict_of(const NodeReport& node) {
  const Verdict verdict = worst(node.findings);
  return opens_gate(verdict) && !ready(node.state) ? Verdict::inconclusive : verdict;
}

bool lost_at_reboot(const NodeReport& node) {
  return std::any_of(node.steps.begin(), node.steps.end(), [](const StepReport& step) { return !step.kept; });
}

json sample_of(const StageReport& report, const NodeReport& node) {
  json steps = json::array();
  for (const StepReport& step : node.steps) steps.push_back({{"id", step.id}, {"state", word(step.state)}});
  json sample{{"state", ready(node.state) ? "ready" : to_string(node.state)},
              {"changed", node.state == NodeState::changed},
              {"lost_at_reboot", lost_at_reboot(node)},
              {"steps", steps},
              {"clock_offset_s", nullptr},
              {"clock_error_s", node.clock_error_s},
              {"agent_sha256", report.agent_sha256},
              {"rank_sha256", report.rank_sha256}};
  if (node.clock_offset_s) sample["clock_offset_s"] = *node.clock_offset_s;
  return sample;
}

/// What the GUIDs and MACs of a node's VFs begin with; the longer first, since the other may be a part of it.
void add_vf_words(const std::string& cluster, std::size_t node, NodePlan& plan) {
  const std::uint64_t first = first_vf_guid(cluster, node, 0);
  plan.addresses.push_back({"vf-guid", first >> 16, 6});
  plan.addresses.push_back({"vf-mac", (first >> 48) << 16 | (first >> 16 & 0xffff), 4});
}

std::string counts(const StageReport& report) {
  std::string line;
  for (NodeState state : node_states) {
    const auto count = std::count_if(report.nodes.begin(), report.nodes.end(),
                                     [&](const NodeReport& node) { return node.state == state; });
    if (count > 0) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, to_string(state));
  }
  return line.empty() ? "no nodes" : line;
}

}  // namespace

const char* to_string(NodeState state) {
  switch (state) {
    case NodeState::unchanged:
      return "unchanged";
    case NodeState::planned:
      return "planned";
    case NodeState::changed:
      return "changed";
    case NodeState::failed:
      return "failed";
    case NodeState::blocked:
      return "blocked";
    case NodeState::unreachable:
      return "unreachable";
    case NodeState::interrupted:
      return "interrupted";
  }
  return "failed";
}

void judge_versions(StageReport& report) {
  for (const char* what : {"openmpi", "ucx"}) {
    const std::string expected = majority(report, what);
    for (NodeReport& node : report.nodes) {
      if (!tells_versions(node) || version_of(node, what) == expected) continue;
      const std::string found = std::string(what) + " " + version_of(node, what);
      node.findings.push_back(make_finding("host.versions_differ", {.host = node.name},
                                           fmt::format("{} {}, as on most nodes", what, expected), found));
      if (node.state == NodeState::unreachable || node.state == NodeState::failed) continue;
      node.state = NodeState::failed;
      node.reason = "host.versions_differ: " + found + ", most nodes have " + expected;
    }
  }
}

void judge_identities(StageReport& report) {
  std::vector<Answerer> answerers;
  for (const NodeReport& node : report.nodes) answerers.push_back({node.name, node.hostname, node.machine});
  const auto told = judge_names(answerers);
  for (NodeReport& node : report.nodes)
    for (const Finding& better : told)
      for (Finding& finding : node.findings) {
        if (better.subject.host != node.name || finding.cause != "host.identity_mismatch") continue;
        finding = better;
        node.reason = better.cause + ": " + better.found;
      }
}

std::vector<Record> stage_records(const StageReport& report, const RunIdentity& identity) {
  std::vector<Record> records;
  if (report.dry_run) return records;
  for (const NodeReport& node : report.nodes) {
    Record record;
    record.identity = identity;
    record.check = "stage.node";
    record.tier = Tier::stage;
    record.hosts = {node.name};
    record.verdict = verdict_of(node);
    record.reason = node.reason;
    record.findings = node.findings;
    // without a sample it is a statement that the node left here, for the reasons in its findings
    if (opens_gate(record.verdict)) record.sample = sample_of(report, node);
    record.started_unix_s = node.started_unix_s;
    record.elapsed_s = node.elapsed_s;
    records.push_back(std::move(record));
  }
  return records;
}

std::string to_text(const StageReport& report, const Inventory& inventory) {
  std::vector<NodePlan> plans;
  for (const NodeReport& node : report.nodes) {
    NodePlan& plan = plans.emplace_back();
    plan.name = node.name;
    plan.head = to_string(node.state) + (node.reason.empty() ? "" : ": " + node.reason);
    plan.commands = node.commands;
    if (node.node >= inventory.nodes.size() || !inventory.nodes[node.node].spec) continue;
    for (const Rail& rail : inventory.nodes[node.node].spec->rails)
      plan.addresses.push_back({rail.name, rail_address(rail, node.node)});
    add_vf_words(inventory.cluster, node.node, plan);
  }
  return fold_plans(plans) + counts(report) + "\n";
}

}  // namespace fabricgate::bootstrap
