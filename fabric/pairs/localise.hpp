#pragma once
/// From many measured paths to the few parts a person must touch. Pure; the method stands at the head of localise.cpp.
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/pairs/pair_sample.hpp"
#include "results/finding.hpp"

namespace fabricgate::fabric {

enum class PathClass : std::uint8_t {
  good,         ///< measured, within the limit
  bad,          ///< measured, below the limit
  unreachable,  ///< tried, nothing came through
  unmeasured    ///< not tried, or the answer is missing
};

/// One measurement of one direction of one rail between two nodes; a repeated path occurs several times.
struct PathResult {
  int from = 0, to = 0;  ///< index into Observation::nodes
  int rail = 0;          ///< index into Observation::rails
  PathClass result = PathClass::unmeasured;
  PairMode mode = PairMode::together;
  float share = -1;  ///< measured bytes/s over the expected, -1 unknown
  float loss = -1;   ///< share of frames lost, -1 unknown
  bool tentative = false;  ///< bad for what only counts when it is seen alone (loss of TCP segments, half duplex), seen
                           ///< with others running
  bool both = false;       ///< bad only with both directions running at once; `share` is of their sum then
  float flows_lost = 0;    ///< share of the many short connections that were never answered: bad whatever repetitions say
  float flows_blocked = 0; ///< share of them that carry small packets alone: the same
  int segment = 0;         ///< bytes of TCP segments that are too small: the same
  float flows_late = 0;    ///< share that needed something sent again, where that is too many
  float stall = 0;         ///< seconds for which nothing arrived, where that alone made it slow
  float flow_slow = 0;     ///< how many times longer than usual the slowest takes, where that is too long
  bool deaf = false;       ///< unreachable: none of the sender's connections is answered, while the receiver's own are
};

/// Answers to "who has the address of (to, to_rail)?" asked on (from, from_rail). Questions not asked are left out.
struct ReachFact {
  int from = 0, from_rail = 0, to = 0, to_rail = 0;
  std::vector<std::string> macs;  ///< empty: nobody answered
  bool mtu_failed = false;        ///< small frames pass, a frame of the declared MTU does not (from_rail == to_rail)
  bool dead = false;              ///< somebody answers, and no frame of any size passes (from_rail == to_rail)
  bool wrong_route = false, wrong_neighbour = false;  ///< of the asker's kernel (from_rail == to_rail)
  std::string way;                ///< how it sends then, for the finding
  std::string neighbour;          ///< MAC of the wrong entry
};

/// What a node says of its own interface.
struct RailFact {
  int node = 0, rail = 0;
  bool down = false;     ///< absent, no carrier, or administratively down
  int mtu = 0;           ///< as found, 0 unknown
  int mtu_declared = 0;  ///< as the inventory says, 0 unknown
  std::string mac;       ///< lower case, "" unknown
  std::string netdev;    ///< for findings, "" unknown
};

struct Observation {
  std::vector<std::string> nodes;
  std::vector<std::string> rails;
  std::vector<PathResult> paths;
  std::vector<ReachFact> reach;
  std::vector<RailFact> facts;
  std::vector<std::vector<std::string>> leaves;  ///< [node][rail], "" unknown; may be empty altogether
  double share_floor = -1;                       ///< limit the classes were made with, for the texts; -1 unknown
  double loss_ceiling = 0.01;                    ///< share of frames lost above which a bad path is a lossy one
};

enum class CulpritKind {
  node,               ///< every rail of ends[0].node (ends[0].way for one direction)
  rail,               ///< ends[0]: node and rail, both directions
  direction,          ///< ends[0]: node, rail and way
  crossed,            ///< ends: the interfaces that are plugged into another rail's network
  duplicate_address,  ///< ends: who answers for it where that is known, then the owner by inventory
  misrouted,          ///< ends[0]: the interface that sends another way, then the peer where it is one
  between,            ///< group_a and group_b (leaf_a, leaf_b when known); ends[0].rail
  pair,               ///< ends[0] and ends[1]: this pair alone, or one end of it that cannot be told apart
  fabric,             ///< every path of ends[0].rail (-1: of every rail)
  unexplained         ///< evidence that fits nothing above
};
enum class Way : std::uint8_t { both, tx, rx };
enum class Effect : std::uint8_t {
  slow,
  unreachable,
  down,
  mtu,
  loss,
  unstable,
  contention,
  half_duplex,
  flows,
  flows_blocked,
  flows_late,
  flow_slow,
  stall,
  segment,
  crossed,
  duplicate,
  route,
  neighbour,
  echo  ///< data passes, and no echo is answered: filtered, and the MTU of the way is not known
};

const char* to_string(CulpritKind kind);
const char* to_string(Way way);
const char* to_string(Effect effect);

struct End {
  int node = -1, rail = -1;
  Way way = Way::both;

  friend bool operator==(const End&, const End&) = default;
};

struct DirectedPath {
  int from = 0, to = 0, rail = 0;

  friend bool operator==(const DirectedPath&, const DirectedPath&) = default;
  friend auto operator<=>(const DirectedPath&, const DirectedPath&) = default;
};

struct Culprit {
  CulpritKind kind = CulpritKind::unexplained;
  Effect effect = Effect::slow;
  std::vector<End> ends;
  std::string leaf_a, leaf_b;          ///< kind between: both "" unknown or all leaves, b alone "" every other leaf
  std::vector<int> group_a, group_b;   ///< kind between: nodes of both sides
  std::vector<DirectedPath> evidence;  ///< the bad paths it explains, sorted
  int contradicted = 0;                ///< good paths that should have been bad
  double confidence = 0;               ///< 0 … 1; below 0.5 the finding is inconclusive
  bool again = false;                  ///< effect contention: most of the evidence was slow every time others ran
  double share = -1;                   ///< median measured share of the evidence, -1 unknown
  double loss = -1;                    ///< median share of frames lost, -1 unknown
  std::string text;                    ///< why, for the evidence of the finding
};

/// Explains every bad or unreachable path with the fewest culprits: each such path is in the evidence of at least one
/// culprit (kind unexplained at worst). Indices out of range are ignored. n nodes and R rails: O(R n² + input).
std::vector<Culprit> localise(const Observation& observation);

/// One finding per culprit (same order), with a cause of the catalogue.
std::vector<Finding> findings(const std::vector<Culprit>& culprits, const Observation& observation);

}  // namespace fabricgate::fabric
