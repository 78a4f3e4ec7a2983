#pragma once
/// RDMA over the rails of a pair whose ends both declare a device, one thread per rail, as in run.hpp: writes one way
/// and the other, with the payload compared, then round trips of a small write.
#include <vector>

#include "fabric/rendezvous.hpp"
#include "fabric/round/task.hpp"
#include "fabric/verbs/plan.hpp"
#include "inventory/host/host.hpp"

namespace fabricgate::fabric {

/// The same at both ends.
VerbsPlan rdma_plan(const RoundOrder& order, const RailEnds& rail);

/// A sample for each such rail, in order; what could not be measured has a failure. Both ends must call it; the
/// Rendezvous is used by the calling thread alone.
std::vector<VerbsSample> run_rdma(Rendezvous& rendezvous, Host& host, const RoundTask& task);

}  // namespace fabricgate::fabric
