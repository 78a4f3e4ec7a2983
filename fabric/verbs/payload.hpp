#pragma once
/// What messages hold and whether they arrived whole: every run sends a pattern of its own into memory that holds none.
#include <cstdint>

#include "fabric/verbs/endpoint.hpp"

namespace fabricgate::fabric {

/// Fills every slot to send from with the pattern of `seed`, and poisons every slot to receive into.
void prepare_payload(const Endpoint& endpoint, const Layout& layout, std::uint64_t seed);

/// What arrived here and what the peer prepared it with.
struct Arrived {
  const Endpoint& endpoint;
  Layout layout;
  std::uint64_t seed = 0;
};

/// Compares byte by byte the first `slots` slots of every queue pair, and looks whether anything was written behind
/// them. Adds the counts and the first difference.
void check_payload(const Arrived& arrived, std::uint64_t slots, VerbsFlow& flow);

}  // namespace fabricgate::fabric
