#pragma once
/// What ARP says of the cabling: which interfaces sit in another rail's network, and which addresses exist twice.
#include <string>
#include <vector>

#include "fabric/pairs/localise.hpp"

namespace fabricgate::fabric {

/// An interface that hears no peer of its own rail, but hears interfaces of `network`.
struct Displaced {
  int node = 0, rail = 0;
  int network = 0;         ///< rail whose network it sits in
  bool ambiguous = false;  ///< no majority: the other side may as well be the displaced one

  friend bool operator==(const Displaced&, const Displaced&) = default;
};

struct Duplicate {
  int node = 0, rail = 0;         ///< owner by inventory
  std::vector<End> others;        ///< other interfaces that answered, when their MAC is known
  std::vector<std::string> macs;  ///< every MAC that answered, sorted
};

/// Method: interfaces are vertices, an answer is an edge to the interface that owns the answering MAC (to the one asked
/// for when the MAC is unknown). Connected components are physical networks, named after the rail of most members.
std::vector<Displaced> displaced_interfaces(const Observation& observation);

/// Addresses answered by two nodes, by another node than the owner, or by two MACs of which one is not the owner's.
std::vector<Duplicate> duplicate_addresses(const Observation& observation);

/// One culprit per crossing: a permutation within one node, a swap between two nodes, or a single wrong port.
std::vector<Culprit> crossings(const std::vector<Displaced>& displaced, const Observation& observation);

}  // namespace fabricgate::fabric
