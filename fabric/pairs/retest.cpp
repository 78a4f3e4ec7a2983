/// Method. An end (node, rail) is a suspect when a path of it is bad and was not measured alone yet. Three things
/// settle a suspect: its bad pairs alone (is it contention?), and each of its ends alone with partners known to be good
/// on that rail (does the fault follow the end?). Pairs that are bad together with another suspect come first by the
/// number of suspects they can clear; each end asks for a bounded number, so that one dead node among a thousand costs
/// a few measurements and not a thousand. Where measurements of one path disagree, more of it settle which was chance.
/// Measurements are then packed greedily into rounds in which no node occurs
/// twice: alone means that nothing else runs on the two nodes.
#include "fabric/pairs/retest.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "fabric/pairs/path_table.hpp"

namespace fabricgate::fabric {
namespace {

using Key = std::tuple<int, int, int>;  // a, b, rail

/// Bad and good pairs of one rail by node.
struct RailView {
  std::vector<NodePair> bad;    ///< not measured alone yet
  std::vector<NodePair> unsure; ///< bad alone once, good otherwise
  std::vector<int> bad_degree;  ///< bad pairs per node, measured alone or not
  std::vector<int> good_degree;
};

bool bad_pair(const PathTable& table, int rail, int a, int b) {
  return table.bad(rail, a, b) || table.bad(rail, b, a);
}

bool unsure(const Cell& cell) {
  return cell.unstable && cell.alone_bad == 1 && cell.alone_good < settling_good;
}

RailView view_of(const PathTable& table, int rail) {
  RailView view;
  view.bad_degree.assign(static_cast<std::size_t>(table.nodes()), 0);
  view.good_degree = view.bad_degree;
  for (int a = 0; a < table.nodes(); ++a) {
    for (int b = a + 1; b < table.nodes(); ++b) {
      if (bad_pair(table, rail, a, b)) {
        ++view.bad_degree[a], ++view.bad_degree[b];
        if (!table.at(rail, a, b).retested && !table.at(rail, b, a).retested) view.bad.push_back({a, b});
        if (unsure(table.at(rail, a, b)) || unsure(table.at(rail, b, a))) view.unsure.push_back({a, b});
      } else if (table.good(rail, a, b) || table.good(rail, b, a)) {
        ++view.good_degree[a], ++view.good_degree[b];
      }
    }
  }
  return view;
}

class Planner {
 public:
  Planner(const Observation& observation, const RetestLimits& limits) : table_(observation), limits_(limits) {}

  RetestPlan plan() {
    std::vector<RailView> views;
    for (int rail = 0; rail < table_.rails(); ++rail) {
      views.push_back(view_of(table_, rail));
      add_bad_pairs(views.back(), rail);
      add_unsure_pairs(views.back(), rail);
    }
    for (int rail = 0; rail < table_.rails(); ++rail) add_partners(views[rail], rail);
    return pack();
  }

 private:
  /// A pair is taken while one of its ends has not had its share of repetitions and is the more suspect of the two.
  void add_bad_pairs(const RailView& view, int rail) {
    std::map<int, int> taken;
    std::vector<NodePair> pairs = view.bad;
    const auto weight = [&view](const NodePair& p) { return view.bad_degree[p.a] + view.bad_degree[p.b]; };
    std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) { return weight(x) > weight(y); });
    for (const NodePair& pair : pairs) {
      const int suspect = view.bad_degree[pair.b] > view.bad_degree[pair.a] ? pair.b : pair.a;
      if (taken[suspect] >= limits_.pairs_per_suspect) continue;
      ++taken[suspect];
      wanted_.push_back({pair.a, pair.b, rail, PairMode::alone});
      seen_.insert({pair.a, pair.b, rail});
      suspects_.insert({suspect, rail});
      if (view.bad_degree[pair.a] == view.bad_degree[pair.b]) suspects_.insert({pair.b, rail});
    }
  }

  /// The same bound; a node with many of them has a fault that comes and goes, and a few show it.
  void add_unsure_pairs(const RailView& view, int rail) {
    std::map<int, int> taken;
    for (const NodePair& pair : view.unsure) {
      if (std::max(taken[pair.a], taken[pair.b]) >= limits_.pairs_per_suspect) continue;
      ++taken[pair.a], ++taken[pair.b];
      if (seen_.insert({pair.a, pair.b, rail}).second) wanted_.push_back({pair.a, pair.b, rail, PairMode::alone});
    }
  }

  /// Good partners have no bad pair on the rail and at least one good one; those of an end are spread by its number.
  void add_partners(const RailView& view, int rail) {
    std::vector<int> good;
    for (int node = 0; node < table_.nodes(); ++node) {
      if (view.bad_degree[node] == 0 && view.good_degree[node] > 0) good.push_back(node);
    }
    for (const auto& [node, on_rail] : suspects_) {
      if (on_rail != rail) continue;
      int taken = 0;
      for (std::size_t i = 0; i < good.size() && taken < limits_.partners_per_suspect; ++i) {
        const int partner = good[(i + static_cast<std::size_t>(node)) % good.size()];
        const Retest test{std::min(node, partner), std::max(node, partner), rail, PairMode::partner};
        if (table_.at(rail, test.a, test.b).retested || !seen_.insert({test.a, test.b, rail}).second) continue;
        wanted_.push_back(test);
        ++taken;
      }
    }
  }

  RetestPlan pack() const {
    RetestPlan plan;
    std::vector<std::set<int>> busy;
    for (const Retest& test : wanted_) {
      std::size_t round = 0;
      while (round < busy.size() && (busy[round].count(test.a) || busy[round].count(test.b))) ++round;
      if (round >= static_cast<std::size_t>(std::max(0, limits_.max_rounds))) {
        ++plan.left_out;
        continue;
      }
      if (round == busy.size()) busy.emplace_back(), plan.rounds.emplace_back();
      busy[round].insert({test.a, test.b});
      plan.rounds[round].push_back(test);
    }
    return plan;
  }

  PathTable table_;
  RetestLimits limits_;
  std::vector<Retest> wanted_;
  std::set<Key> seen_;
  std::set<std::pair<int, int>> suspects_;
};

}  // namespace

RetestPlan plan_retests(const Observation& first_pass, const RetestLimits& limits) {
  return Planner(first_pass, limits).plan();
}

std::vector<NodePair> plan_loaded(const Observation& observation) {
  const PathTable table(observation);
  const auto once = [&](int rail, int from, int to) {
    const Cell& cell = table.at(rail, from, to);
    return cell.contention && cell.loaded < 2;
  };
  std::vector<NodePair> pairs;
  for (int a = 0; a < table.nodes(); ++a)
    for (int b = a + 1; b < table.nodes(); ++b) {
      bool wanted = false;
      for (int rail = 0; rail < table.rails() && !wanted; ++rail) wanted = once(rail, a, b) || once(rail, b, a);
      if (wanted) pairs.push_back({a, b});
    }
  return pairs;
}

}  // namespace fabricgate::fabric
