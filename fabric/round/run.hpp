#pragma once
/// Runs this rank's part of a round.
#include <vector>

#include "fabric/rendezvous.hpp"
#include "fabric/round/order.hpp"
#include "fabric/round/stream.hpp"

namespace fabricgate::fabric {

/// The halves of this rank's tasks (see merge.hpp), none when it has no task. Always one per rail and one for the
/// overlay; what could not be measured says why. Ends within order.deadline_s plus two seconds for closing, whatever
/// the peer does. Every rank with a task must call it; the Rendezvous is used by the calling thread alone, and only to
/// swap addresses.
std::vector<PairSample> run_round(Rendezvous& rendezvous, const RoundOrder& order, const RoundHooks* hooks = nullptr);

}  // namespace fabricgate::fabric
