#include <algorithm>
#include <map>
#include <numeric>

#include "fabric/pairs/blame.hpp"

namespace fabricgate::fabric {
namespace {

using Group = std::vector<int>;

constexpr double tolerated_good = 0.05;  // of the paths across, when the groups are large

/// Nodes without a bad path inside their group; the others are a matter of blame_ends.
Group healthy_inside(const PathTable& table, int rail, const Group& group) {
  Group out;
  for (const int node : group) {
    int bad = 0, good = 0;
    for (const int peer : group) {
      bad += table.open(rail, node, peer) + table.open(rail, peer, node);
      good += table.good(rail, node, peer) + table.good(rail, peer, node);
    }
    if (bad == 0 || good > 0) out.push_back(node);
  }
  return out;
}

struct Crossing {
  std::vector<DirectedPath> bad;
  int good = 0;
  std::vector<int> from, to;  ///< distinct ends of bad paths

  bool all_bad() const {
    return from.size() >= 2 && to.size() >= 2 && good <= tolerated_good * static_cast<double>(bad.size());
  }
};

Crossing crossing(const PathTable& table, int rail, const Group& a, const Group& b) {
  Crossing out;
  for (const int from : a) {
    for (const int to : b) {
      out.good += table.good(rail, from, to);
      if (!table.open(rail, from, to)) continue;
      out.bad.push_back({from, to, rail});
      if (out.from.empty() || out.from.back() != from) out.from.push_back(from);
      if (std::find(out.to.begin(), out.to.end(), to) == out.to.end()) out.to.push_back(to);
    }
  }
  return out;
}

int good_inside(const PathTable& table, int rail, const Group& group) {
  int sum = 0;
  for (const int a : group) {
    for (const int b : group) sum += table.good(rail, a, b);
  }
  return sum;
}

/// Kind between when the paths from one group to the other are all bad, in one way or in both; else nothing.
std::vector<Culprit> judge_groups(PathTable& table, int rail, const Group& a, const Group& b) {
  const Group inner_a = healthy_inside(table, rail, a), inner_b = healthy_inside(table, rail, b);
  if (inner_a.size() < 2 || inner_b.size() < 2) return {};
  const bool forth = crossing(table, rail, inner_a, inner_b).all_bad();
  const bool back = crossing(table, rail, inner_b, inner_a).all_bad();
  if (!forth && !back) return {};
  const Way way = forth && back ? Way::both : forth ? Way::tx : Way::rx;
  Culprit culprit{
      .kind = CulpritKind::between, .ends = {{-1, rail, way}}, .group_a = a, .group_b = b, .confidence = 0.85};
  if (good_inside(table, rail, inner_a) == 0 || good_inside(table, rail, inner_b) == 0) culprit.confidence = 0.6;
  const Crossing forward = crossing(table, rail, a, b), backward = crossing(table, rail, b, a);
  for (const Crossing* part : {&forward, &backward}) {
    if (!(part == &forward ? forth : back)) continue;
    culprit.contradicted += part->good;
    culprit.evidence.insert(culprit.evidence.end(), part->bad.begin(), part->bad.end());
  }
  return {culprit};
}

void mark(PathTable& table, const std::vector<Culprit>& culprits) {
  for (const Culprit& culprit : culprits) {
    for (const DirectedPath& path : culprit.evidence) table.at(path.rail, path.from, path.to).explained = true;
  }
}

/// All groups against all groups; judged on one state of the table, marked afterwards.
std::vector<Culprit> judge_all(PathTable& table, int rail, const std::vector<std::pair<std::string, Group>>& groups) {
  std::vector<Culprit> out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t k = i + 1; k < groups.size(); ++k) {
      for (Culprit& culprit : judge_groups(table, rail, groups[i].second, groups[k].second)) {
        culprit.leaf_a = groups[i].first;
        culprit.leaf_b = groups[k].first;
        out.push_back(std::move(culprit));
      }
    }
  }
  mark(table, out);
  return out;
}

int find_root(std::vector<int>& parent, int node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

bool any_open_on(const PathTable& table, int rail) {
  for (int from = 0; from < table.nodes(); ++from) {
    for (int to = 0; to < table.nodes(); ++to) {
      if (table.open(rail, from, to)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Culprit> blame_leaves(PathTable& table, int rail, const std::vector<std::string>& leaves) {
  std::map<std::string, Group> by_leaf;
  for (int node = 0; node < table.nodes() && node < static_cast<int>(leaves.size()); ++node) {
    if (!leaves[node].empty()) by_leaf[leaves[node]].push_back(node);
  }
  if (by_leaf.size() < 2 || !any_open_on(table, rail)) return {};
  return judge_all(table, rail, {by_leaf.begin(), by_leaf.end()});
}

std::vector<Culprit> blame_groups(PathTable& table, int rail) {
  if (!any_open_on(table, rail)) return {};
  std::vector<int> parent(table.nodes());
  std::iota(parent.begin(), parent.end(), 0);
  for (int a = 0; a < table.nodes(); ++a) {
    for (int b = a + 1; b < table.nodes(); ++b) {
      const bool bad = table.bad(rail, a, b) || table.bad(rail, b, a);
      if (!bad && (table.good(rail, a, b) || table.good(rail, b, a))) {
        parent[find_root(parent, a)] = find_root(parent, b);
      }
    }
  }
  std::map<int, Group> components;
  for (int node = 0; node < table.nodes(); ++node) components[find_root(parent, node)].push_back(node);
  std::vector<std::pair<std::string, Group>> groups;
  for (const auto& [root, group] : components) {
    if (group.size() >= 2) groups.push_back({"", group});
  }
  return groups.size() < 2 ? std::vector<Culprit>{} : judge_all(table, rail, groups);
}

}  // namespace fabricgate::fabric
