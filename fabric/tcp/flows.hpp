#pragma once
/// Many short TCP connections at once, dialled from both ends of a path. What is streamed later uses one or two
/// connections that one end opened, and so does not show
///   - an end that takes no connection: the other one dialled;
///   - one dead member of a bond, one dead path of many between switches: which one a connection takes is chosen from
///   its
///     ports, so only many connections meet it;
///   - segments that are kept small on the way (a clamp, a route with an MTU of its own): echoes of the MTU pass.
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/tcp/tcp_connect.hpp"

namespace fabricgate::fabric {

struct FlowsSetup {
  std::string own_address, peer_address;
  int peer_port = 0;         ///< of the peer's listener
  std::uint64_t count = 64;  ///< each end dials so many
  double answer_s = 5;       ///< for the peer's process to answer, and for it to begin at all
};

struct FlowsSeen {
  FlowCount dialled;           ///< by this end
  std::uint64_t accepted = 0;  ///< connections of the peer
};

/// Both ends call it, each with a listener at its address that the other one dials. Returns when both are through:
/// within milliseconds where all is well, else in little more than answer_s, for a lost SYN is waited for until it was
/// sent again.
FlowsSeen run_flows(const Listener& listener, const FlowsSetup& setup, Deadline deadline);

}  // namespace fabricgate::fabric
