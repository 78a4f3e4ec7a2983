#pragma once
/// Which share of all pairs a plan measures, in words a verdict can carry.
#include <cstdint>
#include <string>
#include <vector>

namespace fabricgate::fabric {

/// Two nodes by index into the list of nodes of the run; a < b.
struct NodePair {
  int a = 0, b = 0;

  friend bool operator==(const NodePair&, const NodePair&) = default;
  friend auto operator<=>(const NodePair&, const NodePair&) = default;
};

/// Pairs measured at the same time: no node occurs twice.
using PairRound = std::vector<NodePair>;

struct Coverage {
  std::int64_t pairs_planned = 0, pairs_total = 0;
  int nodes = 0;  ///< nodes that take part in at least one planned pair
  int nodes_total = 0;
  std::string text;  ///< "6 of 15 pairs in 2 rounds, 6 of 6 nodes, 4 pairs across leaves (1 of 1 leaf pairs), 2 inside"

  /// Every pair of every node; only then may a READY be called complete.
  bool complete() const { return pairs_planned == pairs_total && nodes == nodes_total; }
};

/// `leaves` has the leaf switch of each node ("" unknown), or is empty when none is known.
Coverage coverage_of(const std::vector<PairRound>& rounds, int nodes, const std::vector<std::string>& leaves);

}  // namespace fabricgate::fabric
