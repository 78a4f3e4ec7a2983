#pragma once
/// Which further measurements settle whom to blame: a pure plan from the first pass.
#include <vector>

#include "fabric/pairs/coverage.hpp"
#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric {

struct Retest {
  int a = 0, b = 0, rail = 0;  ///< a < b
  PairMode mode = PairMode::alone;

  friend bool operator==(const Retest&, const Retest&) = default;
};
/// No node occurs twice, so that the measurements may run at the same time.
using RetestRound = std::vector<Retest>;

/// So often a path must be good alone before one measurement alone that was bad is put down to chance.
constexpr int settling_good = 3;

struct RetestLimits {
  int max_rounds = 64;        ///< bound on the time spent
  int pairs_per_suspect = 3;  ///< bad pairs repeated alone for one suspect rail of a node
  int partners_per_suspect = 2;
};

struct RetestPlan {
  std::vector<RetestRound> rounds;
  int left_out = 0;  ///< measurements that did not fit into max_rounds
};

/// Repeats suspect rails of pairs alone, then each suspect end with known-good partners (no bad result on that rail).
/// What was measured alone already is not planned again, except where that was bad once and another measurement good: it is
/// repeated until it was good alone `settling_good` times, or bad twice. Deterministic.
RetestPlan plan_retests(const Observation& first_pass, const RetestLimits& limits = {});

/// Pairs of which a path was slow with others running and good alone, and was tried with others running only once: once
/// more tells what comes every time (a shared limit) from what came once. `observation` has the repetitions alone.
std::vector<NodePair> plan_loaded(const Observation& observation);

}  // namespace fabricgate::fabric
