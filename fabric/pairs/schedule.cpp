/// The circle method. Seat the nodes around a table: node n − 1 stays in the middle seat, the other n − 1 (n even) sit
/// on a circle. In round r the middle plays the seat r, and the seats at equal distance left and right of r play each
/// other: (r − k) with (r + k), modulo n − 1, for k = 1 … n/2 − 1. Turning by one seat per round lets every pair meet
/// exactly once in n − 1 rounds, because r − k and r + k determine both r and k when n − 1 is odd. With odd n the
/// middle is an empty chair, so that one node is idle in each of n rounds.
///
/// A limited schedule takes some of these rounds. What a set of rounds is worth (nodes seen, leaf pairs crossed, nodes
/// with a pair across and a pair inside) never grows when other rounds are added, so that the greedy choice is within
/// 1 − 1/e of the best, and stale gains in a heap need to be refreshed at the top only.
#include "fabric/pairs/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>

namespace fabricgate::fabric {
namespace {

PairRound circle_round(int nodes, int round) {
  const bool odd = nodes % 2 != 0;
  const int circle = odd ? nodes : nodes - 1;
  const int half = (circle + 1) / 2;
  PairRound pairs;
  if (!odd) pairs.push_back({round, nodes - 1});
  for (int k = 1; k < half; ++k) {
    const int left = (round - k + circle) % circle;
    const int right = (round + k) % circle;
    pairs.push_back({std::min(left, right), std::max(left, right)});
  }
  return pairs;
}

std::vector<PairRound> circle_rounds(int nodes) {
  std::vector<PairRound> rounds;
  if (nodes < 2) return rounds;
  const int count = nodes % 2 != 0 ? nodes : nodes - 1;
  for (int round = 0; round < count; ++round) rounds.push_back(circle_round(nodes, round));
  return rounds;
}

/// What the rounds chosen so far have reached.
class Reached {
 public:
  Reached(int nodes, const std::vector<std::string>& leaves)
      : seen_(nodes), inside_(nodes), across_(nodes), leaf_(nodes, -1) {
    std::map<std::string, int> ids;
    for (int node = 0; node < nodes && node < static_cast<int>(leaves.size()); ++node) {
      if (!leaves[node].empty())
        leaf_[node] = ids.try_emplace(leaves[node], static_cast<int>(ids.size())).first->second;
    }
  }

  double gain(const PairRound& round) const {
    double sum = 0;
    std::set<std::pair<int, int>> crossings;
    for (const NodePair& pair : round) {
      sum += 4.0 * (!seen_[pair.a] + !seen_[pair.b]);
      if (leaf_[pair.a] < 0 || leaf_[pair.b] < 0) continue;
      const bool same = leaf_[pair.a] == leaf_[pair.b];
      sum += same ? !inside_[pair.a] + !inside_[pair.b] : !across_[pair.a] + !across_[pair.b];
      if (!same && !crossed_.count(crossing(pair))) crossings.insert(crossing(pair));
    }
    return sum + 2.0 * static_cast<double>(crossings.size());
  }

  void add(const PairRound& round) {
    for (const NodePair& pair : round) {
      seen_[pair.a] = seen_[pair.b] = true;
      if (leaf_[pair.a] < 0 || leaf_[pair.b] < 0) continue;
      const bool same = leaf_[pair.a] == leaf_[pair.b];
      (same ? inside_ : across_)[pair.a] = true;
      (same ? inside_ : across_)[pair.b] = true;
      if (!same) crossed_.insert(crossing(pair));
    }
  }

 private:
  std::pair<int, int> crossing(const NodePair& pair) const { return std::minmax({leaf_[pair.a], leaf_[pair.b]}); }

  std::vector<bool> seen_, inside_, across_;
  std::vector<int> leaf_;
  std::set<std::pair<int, int>> crossed_;
};

/// Indices of the chosen rounds, greedy while anything is gained.
std::set<int> greedy_choice(const std::vector<PairRound>& rounds, int limit, Reached reached) {
  using Entry = std::pair<double, int>;  // gain, minus index: the earlier round wins a tie
  std::priority_queue<Entry> heap;
  for (int i = 0; i < static_cast<int>(rounds.size()); ++i) heap.push({reached.gain(rounds[i]), -i});
  std::set<int> chosen;
  while (!heap.empty() && static_cast<int>(chosen.size()) < limit) {
    const Entry top = heap.top();
    heap.pop();
    const Entry fresh{reached.gain(rounds[-top.second]), top.second};
    if (fresh.first <= 0) continue;
    if (!heap.empty() && fresh < heap.top()) {
      heap.push(fresh);
      continue;
    }
    chosen.insert(-top.second);
    reached.add(rounds[-top.second]);
  }
  return chosen;
}

/// Fills up to `limit` with the free rounds at even distances.
void fill_evenly(std::set<int>& chosen, int count, int limit) {
  std::vector<int> free;
  for (int i = 0; i < count; ++i) {
    if (!chosen.count(i)) free.push_back(i);
  }
  const std::size_t wanted = static_cast<std::size_t>(limit) - chosen.size();
  for (std::size_t i = 0; i < wanted; ++i) chosen.insert(free[i * free.size() / wanted]);
}

}  // namespace

Schedule full_schedule(int nodes, const std::vector<std::string>& leaves) {
  Schedule schedule;
  schedule.rounds = circle_rounds(nodes);
  schedule.coverage = coverage_of(schedule.rounds, nodes, leaves);
  return schedule;
}

Schedule limited_schedule(int nodes, int max_rounds, const std::vector<std::string>& leaves) {
  const std::vector<PairRound> all = circle_rounds(nodes);
  const int count = static_cast<int>(all.size());
  if (max_rounds >= count) return full_schedule(nodes, leaves);
  const int limit = std::max(0, max_rounds);
  std::set<int> chosen = greedy_choice(all, limit, Reached(nodes, leaves));
  fill_evenly(chosen, count, limit);
  Schedule schedule;
  for (const int index : chosen) schedule.rounds.push_back(all[index]);
  schedule.coverage = coverage_of(schedule.rounds, nodes, leaves);
  return schedule;
}

double expected_seconds(const Schedule& schedule, const RoundCost& cost) {
  return static_cast<double>(schedule.rounds.size()) * (cost.measure_s + cost.overhead_s);
}

int rounds_within(double budget_s, const RoundCost& cost) {
  const double round_s = cost.measure_s + cost.overhead_s;
  if (!(budget_s > 0)) return 0;
  if (!(round_s > 0)) return 1'000'000;
  return static_cast<int>(std::min(std::floor(budget_s / round_s), 1e6));
}

}  // namespace fabricgate::fabric
