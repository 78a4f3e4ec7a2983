#include "suites/gate/pair_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/pairs/retest.hpp"

namespace fabricgate::suites {
namespace {

bool good(const Exhibit& exhibit) {
  return opens_gate(exhibit.record.verdict);
}

bool is_alone(const Exhibit& exhibit) {
  return exhibit.mode != fabric::PairMode::together;
}

}  // namespace

std::vector<Group> groups_of(const Exhibits& exhibits) {
  std::vector<Group> groups;
  for (const Exhibit& exhibit : exhibits.records) {
    if (exhibit.record.tier != Tier::pair || exhibit.nodes.size() != 2) continue;
    const bool same = !groups.empty() && groups.back()[0]->record.check == exhibit.record.check &&
                      groups.back()[0]->nodes == exhibit.nodes && groups.back()[0]->record.rail == exhibit.record.rail;
    if (!same) groups.emplace_back();
    groups.back().push_back(&exhibit);  // exhibits are sorted by check, nodes, rail, attempt
  }
  return groups;
}

const Exhibit* slow_once(const Group& group) {
  const std::string& check = group[0]->record.check;
  if ((check != "pair.rail" && check != "pair.rdma") || group[0]->record.attempt != 0) return nullptr;
  const Exhibit* slow = nullptr;
  int alone = 0, loaded = 0;
  for (const Exhibit* exhibit : group) {
    if (good(*exhibit)) {
      ++(is_alone(*exhibit) ? alone : loaded);
      continue;
    }
    if (slow != nullptr || exhibit->record.verdict != Verdict::fail) return nullptr;
    slow = exhibit;
  }
  const auto wrong = [](const Finding& finding) {
    const bool of_load = finding.cause == "pair.below_floor" || finding.cause == "pair.latency_high" ||
                         finding.cause == "rdma.below_floor" || finding.cause == "rdma.latency_high";
    return !opens_gate(finding.verdict) && !of_load;
  };
  if (slow == nullptr || loaded == 0 || alone < (is_alone(*slow) ? fabric::settling_good : 1)) return nullptr;
  const auto& findings = slow->record.findings;
  return std::any_of(findings.begin(), findings.end(), wrong) ? nullptr : slow;
}

int common_node(const NodePairs& pairs, std::size_t nodes) {
  std::map<int, std::set<int>> partners;
  for (const auto& [a, b] : pairs) {
    partners[a].insert(b);
    partners[b].insert(a);
  }
  int best = -1;
  std::size_t most = 1;
  bool tie = false;
  for (const auto& [node, others] : partners) {
    if (others.size() > most) {
      best = node;
      most = others.size();
      tie = false;
    } else if (others.size() == most) {
      tie = true;
    }
  }
  return tie || best < 0 || most * 2 <= nodes - 1 ? -1 : best;
}

void warn(const Group& group, const Exhibit* slow, std::vector<PairWarning>& warnings) {
  const auto alone = [](const Exhibit* exhibit) { return is_alone(*exhibit); };
  const auto clean = [](const Exhibit* exhibit) { return exhibit->record.verdict == Verdict::pass; };
  const bool repeated = std::any_of(group.begin(), group.end(), alone);
  const bool gone = repeated && std::all_of(group.begin(), group.end(),
                                            [&](const Exhibit* each) { return !alone(each) || clean(each); });
  const int a = group[0]->nodes[0], b = group[0]->nodes[1];
  std::vector<const Exhibit*> passing;
  for (const Exhibit* exhibit : group) {
    if (exhibit == slow || (exhibit->record.verdict == Verdict::warn && gone && !alone(exhibit)))
      passing.push_back(exhibit);
    else if (exhibit->record.verdict == Verdict::warn)
      for (const Finding& finding : exhibit->record.findings) warnings.push_back({a, b, finding});
  }
  if (passing.empty()) return;
  const Record& record = passing[0]->record;
  const Finding seen = record.findings.empty() ? Finding{} : record.findings[0];
  warnings.push_back(
      {a, b,
       make_finding(
           "pair.unstable", {.host = record.hosts[0], .rail = record.rail, .peer = record.hosts[1]}, seen.expected,
           fmt::format("{} in {} of {} measurements, {}", seen.found, passing.size(), group.size(),
                       is_alone(*passing[0]) ? "alone" : "with others running"))});
}

}  // namespace fabricgate::suites
