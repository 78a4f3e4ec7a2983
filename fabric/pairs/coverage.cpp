#include "fabric/pairs/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabricgate::fabric {
namespace {

bool leaf_known(const std::vector<std::string>& leaves, int node) {
  return node < static_cast<int>(leaves.size()) && !leaves[node].empty();
}

std::string leaf_text(const std::set<NodePair>& pairs, const std::vector<std::string>& leaves) {
  std::set<std::string> names;
  for (const std::string& leaf : leaves) {
    if (!leaf.empty()) names.insert(leaf);
  }
  if (names.size() < 2) return "";
  std::set<std::pair<std::string, std::string>> crossings;
  std::size_t across = 0, inside = 0;
  for (const NodePair& pair : pairs) {
    if (!leaf_known(leaves, pair.a) || !leaf_known(leaves, pair.b)) continue;
    if (leaves[pair.a] == leaves[pair.b]) {
      ++inside;
      continue;
    }
    ++across;
    crossings.insert(std::minmax(leaves[pair.a], leaves[pair.b]));
  }
  return fmt::format(", {} pairs across leaves ({} of {} leaf pairs), {} inside", across, crossings.size(),
                     names.size() * (names.size() - 1) / 2, inside);
}

}  // namespace

Coverage coverage_of(const std::vector<PairRound>& rounds, int nodes, const std::vector<std::string>& leaves) {
  std::set<NodePair> pairs;
  std::set<int> seen;
  for (const PairRound& round : rounds) {
    for (const NodePair& pair : round) {
      pairs.insert(pair);
      seen.insert({pair.a, pair.b});
    }
  }
  Coverage coverage;
  coverage.pairs_planned = static_cast<std::int64_t>(pairs.size());
  coverage.pairs_total = std::int64_t{nodes} * std::max(0, nodes - 1) / 2;
  coverage.nodes = static_cast<int>(seen.size());
  coverage.nodes_total = nodes;
  coverage.text = fmt::format("{} of {} pairs in {} rounds, {} of {} nodes{}", coverage.pairs_planned,
                              coverage.pairs_total, rounds.size(), coverage.nodes, nodes, leaf_text(pairs, leaves));
  return coverage;
}

}  // namespace fabricgate::fabric
