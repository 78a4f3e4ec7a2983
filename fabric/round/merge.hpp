#pragma once
/// Each end of a pair knows what it received; together they are a PairSample. Over RDMA each has the whole sample.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/round/order.hpp"
#include "fabric/verbs/verbs_sample.hpp"

namespace fabricgate::fabric {

/// What one rank hands back: one half per rail of each of its tasks, and one for the overlay (rail empty, engine tcp).
/// a's half holds b_to_a, the latency and what came of the connections that a dialled, b's half a_to_b and its own
/// connections; the other direction holds only what its sender knows. RDMA: a sample per rail that has it.
struct RoundShare {
  std::vector<PairSample> halves;
  std::vector<VerbsSample> rdma;
};
std::string share_to_text(const RoundShare& share);
Result<RoundShare> share_from_text(const std::string& text);

/// `a` and `b` are the halves of one rail; what is missing becomes an error that names the node.
PairSample merge_halves(const PairTask& task, const std::optional<PairSample>& a, const std::optional<PairSample>& b);

/// The samples of a whole round from what Rendezvous::gather gave rank 0 (nullopt: that rank did not arrive), in the
/// order of tasks, rails, overlay: always complete, a silent end is an error in the sample.
struct RoundSamples {
  std::vector<PairSample> pairs;
  std::vector<VerbsSample> rdma;  ///< in the order of tasks and of the rails that have it
};
RoundSamples merge_round(const RoundOrder& order, const std::vector<std::optional<std::string>>& gathered);

}  // namespace fabricgate::fabric
