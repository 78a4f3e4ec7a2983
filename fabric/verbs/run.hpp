#pragma once
/// Two ends measure over RDMA. Both call it, with the same plan; what they must tell each other goes over the
/// Rendezvous.
///
/// Open, swap `EndInfo`s, then a few small writes both ways (the contact), then each step: fill the messages, connect
/// the queue pairs anew, agree to begin, run, swap what came of it, compare the payload, swap that. The first failure
/// ends it, and both ends know it. When an acknowledgement stays away and the contact then works again, full-size
/// packets are the cause.
#include <functional>
#include <string>

#include "fabric/rendezvous.hpp"
#include "fabric/verbs/end_info.hpp"
#include "fabric/verbs/failure.hpp"
#include "fabric/verbs/plan.hpp"
#include "fabric/verbs/port.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

struct VerbsPath {
  std::string a, b, rail;  ///< node names, inventory order
  bool is_a = true;        ///< which end we are
  int peer_rank = 0;
  int tag = 0;  ///< tells concurrent exchanges of one pair apart
  PortName port;
  Failed no_port;                                   ///< why there is no port to use (choose_port); the peer is told
  std::function<void(EndInfo& peer)> on_peer = {};  ///< for tests and faults: changes what the peer told

  const std::string& self() const { return is_a ? a : b; }
  const std::string& peer() const { return is_a ? b : a; }
};

/// The whole sample, the same at both ends unless the peer fell silent. Ends by the deadline. The plan is checked
/// (check_plan).
VerbsSample run_verbs(Rendezvous& rendezvous, const VerbsPath& path, const VerbsPlan& plan, Deadline deadline);

}  // namespace fabricgate::fabric
