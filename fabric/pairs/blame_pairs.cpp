#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fabric/pairs/blame.hpp"
#include "fabric/pairs/coverage.hpp"

namespace fabricgate::fabric {
namespace {

bool has_good(const PathTable& table, int rail, int node) {
  return table.good_paths({node, rail}) > 0;
}

std::vector<NodePair> open_pairs(const PathTable& table, int rail) {
  std::vector<NodePair> out;
  for (int a = 0; a < table.nodes(); ++a) {
    for (int b = a + 1; b < table.nodes(); ++b) {
      if (table.open(rail, a, b) || table.open(rail, b, a)) out.push_back({a, b});
    }
  }
  return out;
}

void take(PathTable& table, int from, int to, int rail, Culprit& culprit) {
  if (!table.open(rail, from, to)) return;
  table.at(rail, from, to).explained = true;
  culprit.evidence.push_back({from, to, rail});
}

/// Every open path of the rail has the same share of the declared rate, within a tenth, and no node is part of all
/// pairs: then it is not some nodes that are slow but all, or the declaration that is wrong.
bool all_alike(const PathTable& table, int rail, const std::vector<NodePair>& pairs) {
  constexpr float spread = 1.1F;
  float least = 0, most = 0;
  for (const NodePair& pair : pairs)
    for (const auto& [from, to] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
      if (!table.open(rail, from, to)) continue;
      const float share = table.at(rail, from, to).share;
      if (share <= 0 || table.at(rail, from, to).mtu) return false;
      least = least == 0 ? share : std::min(least, share);
      most = std::max(most, share);
    }
  const auto in_all = [&](int node) {
    return std::all_of(pairs.begin(), pairs.end(),
                       [&](const NodePair& pair) { return pair.a == node || pair.b == node; });
  };
  return !pairs.empty() && most <= spread * least && !in_all(pairs[0].a) && !in_all(pairs[0].b);
}

Culprit pair_culprit(PathTable& table, int rail, const NodePair& pair, bool ends_are_good) {
  const bool forth = table.open(rail, pair.a, pair.b), back = table.open(rail, pair.b, pair.a);
  const Way way = forth && back ? Way::both : forth ? Way::tx : Way::rx;
  Culprit culprit{.kind = CulpritKind::pair, .ends = {{pair.a, rail, way}, {pair.b, rail}}};
  culprit.confidence = ends_are_good ? 0.8 : 0.5;
  culprit.text = ends_are_good ? "both ends are good with other nodes: the path between them"
                               : "no other good measurement on this rail tells the ends apart";
  take(table, pair.a, pair.b, rail, culprit);
  take(table, pair.b, pair.a, rail, culprit);
  return culprit;
}

/// Connected components of the pairs whose ends have no good path at all.
std::vector<std::vector<NodePair>> knots(const std::vector<NodePair>& pairs, int nodes) {
  std::vector<int> parent(nodes);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](int node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const NodePair& pair : pairs) parent[root(pair.a)] = root(pair.b);
  std::map<int, std::vector<NodePair>> by_root;
  for (const NodePair& pair : pairs) by_root[root(pair.a)].push_back(pair);
  std::vector<std::vector<NodePair>> out;
  for (auto& [key, members] : by_root) out.push_back(std::move(members));
  return out;
}

}  // namespace

std::vector<Culprit> blame_fabric(PathTable& table, int rail, bool alike) {
  std::set<int> nodes;
  int good = 0;
  for (int node = 0; node < table.nodes(); ++node) good += table.good_paths({node, rail, Way::tx});
  const std::vector<NodePair> pairs = open_pairs(table, rail);
  for (const NodePair& pair : pairs) nodes.insert({pair.a, pair.b});
  if (good > 0 || nodes.size() < 3 || pairs.size() < (alike ? 2 : 3)) return {};
  if (alike && !all_alike(table, rail, pairs)) return {};
  Culprit culprit{.kind = CulpritKind::fabric, .ends = {{-1, rail}}, .confidence = 0.7};
  culprit.text =
      alike ? "no pair of this rail is good and all reach the same: the declared rate, or something that all share"
            : "no pair of this rail is good";
  for (const NodePair& pair : pairs) {
    take(table, pair.a, pair.b, rail, culprit);
    take(table, pair.b, pair.a, rail, culprit);
  }
  return {culprit};
}

std::vector<Culprit> blame_pairs(PathTable& table, int rail) {
  std::vector<Culprit> out;
  std::vector<NodePair> isolated;
  for (const NodePair& pair : open_pairs(table, rail)) {
    const bool a_good = has_good(table, rail, pair.a), b_good = has_good(table, rail, pair.b);
    if (a_good || b_good) {
      out.push_back(pair_culprit(table, rail, pair, a_good && b_good));
    } else {
      isolated.push_back(pair);
    }
  }
  for (const std::vector<NodePair>& knot : knots(isolated, table.nodes())) {
    if (knot.size() == 1) {
      out.push_back(pair_culprit(table, rail, knot[0], false));
      continue;
    }
    Culprit culprit{.kind = CulpritKind::unexplained, .ends = {{-1, rail}}, .confidence = 0.2};
    culprit.text = "several explanations are equally short";
    for (const NodePair& pair : knot) {
      take(table, pair.a, pair.b, rail, culprit);
      take(table, pair.b, pair.a, rail, culprit);
    }
    out.push_back(culprit);
  }
  return out;
}

}  // namespace fabricgate::fabric
