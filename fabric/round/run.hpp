#pragma once
/// Runs this rank's part of a round.
#include "fabric/rendezvous.hpp"
#include "fabric/round/merge.hpp"
#include "fabric/round/order.hpp"
#include "fabric/round/stream.hpp"
#include "inventory/host/host.hpp"

namespace fabricgate::fabric {

/// What this rank has of its tasks (see merge.hpp), nothing when it has no task. Always a half per rail and one for the
/// overlay; what could not be measured says why. Ends within order.deadline_s plus two seconds for closing, whatever
/// the peer does. Every rank with a task must call it; the Rendezvous is used by the calling thread alone, and only to
/// swap addresses. `host` tells which port of an RDMA device is a rail's.
RoundShare run_round(Rendezvous& rendezvous, Host& host, const RoundOrder& order, const RoundHooks* hooks = nullptr);

}  // namespace fabricgate::fabric
