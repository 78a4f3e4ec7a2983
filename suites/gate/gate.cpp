/// Method. Tier by tier, in the order of a run:
///  1. node and rail checks give each node a verdict; a demanded check without record is not_run; the first tier that
///  does
///     not open the gate is where the node left, and nothing later is expected of it;
///  2. host.fleet is judged over the digest of the facts that are there and must cover every node that did not leave;
///     links of one rail at the same lower speed on every node are one finding of the rail, not one of each node;
///  3. the pair tier: a suspect that was good again alone and under full load is a warning; everything else bad goes to
///     fabric::localise, whose culprits are the findings. Findings of single pairs that a culprit explains are echoes;
///     those that none explains stand. Pairs of a node that is itself shut are excused, all others must have been
///     measured; a node whose management network is far slower than that of most is warned of;
///  4. the collective must cover every node that did not leave;
///  5. link counters are read again at the end, and an interface must have carried what was measured over its rail;
///  6. the cluster is the worst of required nodes, findings of no single node, and missing evidence.
#include "suites/gate/gate.hpp"

#include <algorithm>

#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {

bool Fold::demanded(const char* id) const {
  const Check* check = find_check(id);
  if (check == nullptr || input.suite.find(id) == nullptr) return false;
  if (!input.through) return true;
  return !check->at_end && check->tier <= *input.through;
}

bool Fold::shut(int index) const {
  const NodeResult& node = result.nodes[static_cast<std::size_t>(index)];
  return std::any_of(node.tiers.begin(), node.tiers.end(), [](const auto& tier) { return !opens_gate(tier.second) && tier.second != Verdict::skip; });
}

bool Fold::required_shut() const {
  for (int node = 0; node < static_cast<int>(nodes()); ++node)
    if (required(node) && shut(node)) return true;
  return false;
}

void Fold::fold(int index, Tier tier, Verdict verdict) {
  NodeResult& result_node = node(index);
  const auto [place, fresh] = result_node.tiers.emplace(tier, verdict);
  if (!fresh) place->second = worse(place->second, verdict);
  if (!opens_gate(verdict) && verdict != Verdict::skip && (!result_node.left_in || tier < *result_node.left_in)) result_node.left_in = tier;
}

void Fold::add(int index, Tier tier, const Finding& finding) {
  std::vector<Finding>& list = node(index).findings;
  const auto same = [&](const Finding& other) { return other.cause == finding.cause && other.subject == finding.subject; };
  if (std::none_of(list.begin(), list.end(), same)) list.push_back(finding);
  if (finding.primary || !opens_gate(finding.verdict)) fold(index, tier, finding.verdict);
}

void Fold::miss(Missing missing, Tier tier, int blame) {
  if (blame >= 0) fold(blame, tier, Verdict::not_run);
  result.missing.push_back(std::move(missing));
}

GateResult gate(const GateInput& input, const Exhibits& exhibits) {
  Fold fold{input, exhibits, {}, {}};
  for (const Node& node : input.inventory.nodes) fold.result.nodes.push_back({.name = node.name, .required = node.required});
  fold.result.emulated = input.inventory.emulated();
  fold.result.records = exhibits.records.size();
  for (const Exhibit& exhibit : exhibits.records) ++fold.result.counts[exhibit.record.tier][exhibit.record.verdict];
  fold.result.findings = exhibits.problems;
  fold_nodes(fold);
  fold_declared(fold);
  fold_pairs(fold);
  fold_missing_pairs(fold);
  fold_overlay(fold);
  fold_collective(fold);
  fold_end(fold);
  fold_traffic(fold);
  summarise_paths(fold);
  conclude(fold);
  return std::move(fold.result);
}

GateResult gate(const GateInput& input, const std::vector<RecordFile>& files) { return gate(input, read_exhibits(input, files)); }

}  // namespace fabricgate::suites
