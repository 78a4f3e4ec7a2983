#pragma once
/// Who measures with whom, and when: rounds of disjoint pairs.
#include <string>
#include <vector>

#include "fabric/pairs/coverage.hpp"

namespace fabricgate::fabric {

struct Schedule {
  std::vector<PairRound> rounds;
  Coverage coverage;
};

/// Every unordered pair of `nodes` once: n − 1 rounds of n / 2 pairs for even n, n rounds with one idle node each for
/// odd n. Fewer than two nodes: no rounds.
Schedule full_schedule(int nodes, const std::vector<std::string>& leaves = {});

/// At most `max_rounds` rounds of the full schedule, chosen so that, in this order of weight, every node takes part,
/// every pair of leaves is crossed, and every node has a pair across and a pair inside its leaf; then spread evenly. A
/// limit of full length or more gives the full schedule; 0 or less gives no rounds. `leaves`: one per node, "" unknown,
/// or empty.
Schedule limited_schedule(int nodes, int max_rounds, const std::vector<std::string>& leaves = {});

/// What one round costs: all pairs of a round run at the same time.
struct RoundCost {
  double measure_s = 0;   ///< transfers of one pair, both directions, all sizes
  double overhead_s = 0;  ///< set-up, agreement and clean-up
};

double expected_seconds(const Schedule& schedule, const RoundCost& cost);

/// Rounds that fit into `budget_s`, never negative.
int rounds_within(double budget_s, const RoundCost& cost);

}  // namespace fabricgate::fabric
