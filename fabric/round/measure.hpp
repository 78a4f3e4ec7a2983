#pragma once
/// Everything two nodes measure of one path, in an order both know: latency (it also opens the connection), one
/// direction, the other direction. Engine-blind: works over any Channel.
#include <string>

#include "fabric/channel.hpp"
#include "fabric/round/order.hpp"
#include "fabric/round/stream.hpp"

namespace fabricgate::fabric {

struct PathSetup {
  const RoundOrder& order;
  const PairTask& task;
  bool is_a = true;        ///< which end we are
  double seconds = 1;      ///< of one direction
  Channel* back =
      nullptr;             ///< a second channel to the peer, for b_to_a, when both directions are then measured at once
  std::string path;        ///< "rail0 (ens1 to ens1)", for errors
  std::uint64_t seed = 0;  ///< same at both ends
  const RoundHooks* hooks = nullptr;
  std::string own_address = {}, peer_address = {};  ///< of a path over TCP, for count_tcp

  const std::string& self() const { return is_a ? task.a : task.b; }
  const std::string& peer() const { return is_a ? task.b : task.a; }
};

/// Fills this end's half (see merge.hpp); never longer than the deadline.
void measure_path(Channel& channel, const PathSetup& setup, PairSample& half, Deadline deadline);

}  // namespace fabricgate::fabric
