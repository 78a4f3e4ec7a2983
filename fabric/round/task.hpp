#pragma once
/// What one end of a pair works on during a round. Only for fabric/round.
#include "fabric/round/stream.hpp"

namespace fabricgate::fabric {

struct RoundTask {
  const RoundOrder& order;
  const PairTask& pair;
  int index = 0;  ///< in the order
  bool is_a = true;
  Deadline deadline;
  const RoundHooks* hooks = nullptr;

  const std::string& self() const { return is_a ? pair.a : pair.b; }
  const std::string& peer() const { return is_a ? pair.b : pair.a; }
  int peer_rank() const { return is_a ? pair.b_rank : pair.a_rank; }
};

}  // namespace fabricgate::fabric
