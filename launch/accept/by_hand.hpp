#pragma once
/// A run that a person started with a launcher line of their own: all tiers in one job, no head beside it. Rank 0 reads
/// what the others cannot, decides, and its exit code is the launcher's.
#include <string>

#include "launch/job.hpp"

namespace fabricgate::launch {

struct ByHand {
  std::string inventory, runs = "fabricgate-runs", limits, suite;  ///< paths; limits and suite empty: the built-in ones
  bool stage = false;  ///< the whole pipeline: each rank stages its node first, and the verdict is over the whole suite
  AcceptOptions accept;
};

/// Every rank calls it. On rank 0 the exit code of the verdict; elsewhere 0 when the job ended in order, so that the
/// launcher returns rank 0's.
int run_by_hand(const ByHand& options);

}  // namespace fabricgate::launch
