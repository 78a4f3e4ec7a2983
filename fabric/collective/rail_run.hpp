#pragma once
/// All steps and iterations of an order on one rail, by one participant.
#include "fabric/collective/all_reduce.hpp"
#include "fabric/collective/neighbours.hpp"
#include "fabric/collective/summary.hpp"

namespace fabricgate::fabric {

struct RailShare {
  std::size_t rail = 0;  ///< index in the order
  int self = 0;          ///< participant
  const CollectiveHooks* hooks = nullptr;
};

/// Each iteration: fresh input, poisoned staging, barrier, AllReduce on the clock, every element checked.
RankReport run_rail(Neighbours& neighbours, const CollectiveOrder& order, const RailShare& share);

/// Rails of one participant together: per iteration the slowest rail, counts added, the error that came earliest.
RankReport merge_rails(const std::vector<RankReport>& rails);

}  // namespace fabricgate::fabric
