/// Warnings of single pairs that are of one node: a person looks at the node, and not at each of its partners.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "suites/gate/pair_groups.hpp"

namespace fabricgate::suites {
namespace {

using Warnings = std::vector<PairWarning>;

bool of(const PairWarning& warning, int node) {
  return warning.a == node || warning.b == node;
}

int node_of(const Warnings& warnings, std::size_t nodes) {
  NodePairs pairs;
  for (const PairWarning& warning : warnings) pairs.emplace_back(warning.a, warning.b);
  return common_node(pairs, nodes);
}

Finding of_node(const std::string& node, const Warnings& warnings) {
  Finding one = warnings[0].finding;
  const std::string first = to_string(one.subject);
  std::set<std::string> partners;
  bool one_rail = true;
  for (const PairWarning& warning : warnings) {
    const Subject& subject = warning.finding.subject;
    partners.insert(subject.host == node ? subject.peer : subject.host);
    one_rail = one_rail && subject.rail == one.subject.rail;
    one.evidence.push_back({-1, to_string(subject) + ": " + warning.finding.found});
  }
  one.found =
      fmt::format("{} measurements with {} partners; {}: {}", warnings.size(), partners.size(), first, one.found);
  one.subject = {.host = node, .rail = one_rail ? one.subject.rail : ""};
  return one;
}

}  // namespace

void fold_warnings(Fold& fold, Warnings warnings) {
  std::set<std::string> causes;
  for (const PairWarning& warning : warnings) causes.insert(warning.finding.cause);
  for (const std::string& cause : causes) {
    const auto other = std::stable_partition(
        warnings.begin(), warnings.end(), [&](const PairWarning& warning) { return warning.finding.cause != cause; });
    Warnings same(std::make_move_iterator(other), std::make_move_iterator(warnings.end()));
    warnings.erase(other, warnings.end());
    for (int node = node_of(same, fold.nodes()); node >= 0; node = node_of(same, fold.nodes())) {
      const auto its = std::stable_partition(same.begin(), same.end(),
                                             [&](const PairWarning& warning) { return !of(warning, node); });
      fold.add(node, Tier::pair, of_node(fold.node(node).name, Warnings(its, same.end())));
      same.erase(its, same.end());
    }
    for (const PairWarning& warning : same) fold.result.findings.push_back(warning.finding);
  }
}

}  // namespace fabricgate::suites
