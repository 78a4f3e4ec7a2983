#pragma once
/// Runs an AllReduce over a set of ranks and measures it.
#include <functional>

#include "fabric/collective/collective_sample.hpp"
#include "fabric/collective/order.hpp"
#include "fabric/rendezvous.hpp"

namespace fabricgate::fabric {

/// For tests: before each iteration's data moves, on each rail. `data` holds `count` floats of `host`'s input. An error
/// ends this participant's run; sleeping in it is a hung process.
struct CollectiveHooks {
  std::function<Status(const std::string& host, float* data, std::size_t count, int iteration)> before_iteration;
};

/// Every rank of the job must call it with the same order, participant or not: it gathers and broadcasts. Returns the
/// same sample everywhere; what went wrong is in the sample. A rank that does not arrive, hangs or dies is named in
/// `missing`, within order.deadline_s plus a few seconds. Rank 0 of the job need not be a participant.
CollectiveSample run_all_reduce(Rendezvous& rendezvous, const CollectiveOrder& order,
                                const CollectiveHooks* hooks = nullptr);

}  // namespace fabricgate::fabric
