#include <algorithm>

#include "fabric/pairs/blame.hpp"

namespace fabricgate::fabric {
namespace {

constexpr int min_bad = 2;  // one bad path names a pair, not an end
constexpr int min_mostly_bad = 3;
constexpr double mostly_good = 0.25;  // share of good paths above which an end is not blamed at all

/// Paths of every interface of one rail, for both ways: good, open, and bad ones that were not certain before.
struct Counts {
  std::vector<int> good[2], open[2], bad[2];  // [0] tx, [1] rx

  Counts(const PathTable& table, int rail) {
    const int nodes = table.nodes();
    for (int way = 0; way < 2; ++way) good[way].assign(nodes, 0), open[way].assign(nodes, 0), bad[way].assign(nodes, 0);
    for (int from = 0; from < nodes; ++from) {
      for (int to = 0; to < nodes; ++to) {
        if (table.good(rail, from, to)) ++good[0][from], ++good[1][to];
        if (table.open(rail, from, to)) ++open[0][from], ++open[1][to];
        if (table.bad(rail, from, to) && !table.at(rail, from, to).certain) ++bad[0][from], ++bad[1][to];
      }
    }
  }
  bool all_bad(int way, int node) const {
    return good[way][node] == 0 && open[way][node] > 0 && bad[way][node] >= min_bad;
  }
};

Culprit direction(PathTable& table, int rail, int node, int way) {
  const End end{node, rail, way == 0 ? Way::tx : Way::rx};
  Culprit culprit{.kind = CulpritKind::direction, .ends = {end}, .confidence = 0.8};
  culprit.contradicted = table.good_paths(end);
  culprit.evidence = table.bad_paths(end);
  table.take(end);
  return culprit;
}

/// An end is needed when one of its bad paths cannot be the fault of the other end.
bool needed(const PathTable& table, const Counts& counts, int rail, int node, int way) {
  for (int peer = 0; peer < table.nodes(); ++peer) {
    const int from = way == 0 ? node : peer, to = way == 0 ? peer : node;
    if (table.open(rail, from, to) && !counts.all_bad(1 - way, peer)) return true;
  }
  return false;
}

/// The only end through which all open paths of a rail go, when there are two or more paths.
bool sole_end(const PathTable& table, int rail, End& sole) {
  const Counts counts(table, rail);
  int total = 0, found = 0;
  for (const int open : counts.open[0]) total += open;
  for (int way = 0; way < 2; ++way) {
    for (int node = 0; node < table.nodes(); ++node) {
      if (total < min_bad || counts.open[way][node] != total || counts.good[way][node] > 0) continue;
      ++found;
      sole = {node, rail, way == 0 ? Way::tx : Way::rx};
    }
  }
  return found == 1;
}

}  // namespace

std::vector<Culprit> blame_ends(PathTable& table, int rail) {
  const Counts counts(table, rail);
  std::vector<End> blamed;
  for (int node = 0; node < table.nodes(); ++node) {
    for (int way = 0; way < 2; ++way) {
      if (counts.all_bad(way, node) && needed(table, counts, rail, node, way)) {
        blamed.push_back({node, rail, way == 0 ? Way::tx : Way::rx});
      }
    }
  }
  std::vector<Culprit> out;
  for (const End& end : blamed) out.push_back(direction(table, rail, end.node, end.way == Way::tx ? 0 : 1));
  End sole;
  if (sole_end(table, rail, sole)) out.push_back(direction(table, rail, sole.node, sole.way == Way::tx ? 0 : 1));
  return out;
}

std::vector<Culprit> blame_mostly_bad_ends(PathTable& table, int rail) {
  std::vector<Culprit> out;
  while (true) {
    const Counts counts(table, rail);
    int best = -1, best_open = 0;
    for (int node = 0; node < table.nodes(); ++node) {
      const int open = counts.open[0][node] + counts.open[1][node];
      const int good = counts.good[0][node] + counts.good[1][node];
      const int bad = counts.bad[0][node] + counts.bad[1][node];
      const bool mostly = bad >= min_mostly_bad && good <= mostly_good * (good + bad);
      if (mostly && open >= min_bad && open > best_open) best = node, best_open = open;
    }
    if (best < 0) break;
    for (int way = 0; way < 2; ++way) {
      if (counts.open[way][best] > 0) out.push_back(direction(table, rail, best, way));
    }
  }
  return out;
}

}  // namespace fabricgate::fabric
