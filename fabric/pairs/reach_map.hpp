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
  std::vector<int> askers;        ///< who heard another than the owner on this rail
};

/// Method: interfaces are vertices, an answer is an edge to the interface that owns the answering MAC (to the one asked
/// for when the MAC is unknown). Connected components are physical networks, named after the rail of most members.
std::vector<Displaced> displaced_interfaces(const Observation& observation);

/// Addresses answered by two nodes, by another node than the owner, or by two MACs of which one is not the owner's.
std::vector<Duplicate> duplicate_addresses(const Observation& observation);

/// One culprit per interface that answers for addresses of others, or per address where it is not known whose MAC that
/// is.
std::vector<Culprit> duplicates(const std::vector<Duplicate>& all, const Observation& observation);

/// One culprit per interface whose kernel sends to peers another way than over the rail, by its routes or by its
/// neighbour table. Evidence: the paths to and from these peers, whatever was measured on them.
std::vector<Culprit> misrouted(const Observation& observation);

/// One culprit per crossing: a permutation within one node, a swap between two nodes, or a single wrong port.
std::vector<Culprit> crossings(const std::vector<Displaced>& displaced, const Observation& observation);

}  // namespace fabricgate::fabric
