/// Method. A path X→Y on a rail passes the sending side of X's interface and the receiving side of Y's. If one part is
/// at fault, every path through it is bad; one good path through a part clears it. So:
///
/// 1. Certain first. What a node itself says (no carrier, wrong MTU, another way to a peer) and what ARP shows (crossed
///    cables, an address that exists twice) explain the bad paths they touch; these are not counted again.
///    Then, where no path of a rail is good and all reach the same share of the declared rate: the declaration or the
///    fabric, and no node, however few pairs were measured.
/// 2. Leaf switches, where they are known: all paths from one leaf to another bad, none inside bad → between. Ends with
///    bad paths inside their own leaf as well are left to step 3.
/// 3. Ends. An end (node, rail, tx or rx) is a suspect when it has two or more bad paths and no good one. This is a
/// vertex
///    cover of the bipartite graph of bad paths in which most of the choice is forced: a suspect is blamed when one of
///    its bad paths leads to an end that is no suspect. Paths between two suspects are then explained too, or stay.
/// 4. If no path of the rail is good, none of this can be told: fabric.
/// 5. Groups found from good paths alone, for switches the inventory does not name: "between switches".
/// 6. Ends of which at least three paths are bad and at most a quarter good: blamed as unstable, contradiction counted.
/// 7. Each pair that is left is a pair of its own, or part of an unexplained knot. Nothing is dropped.
/// 8. Fold: tx and rx of an interface → rail; all rails of a node → node; equal groups and pairs on all rails →
///    one, fabrics too unless they are slow; all leaf pairs of one leaf → its uplink.
///
/// Assumptions: faults are of parts, so a lone bad path is believed to be a pair only if both ends are good with
/// others; with two nodes neither end can be told from the other. Limits are such that a healthy path is good. What was
/// slow with others running and good alone is contention: the same steps run on those paths apart from the real faults.
#include "fabric/pairs/localise.hpp"

#include <algorithm>

#include "fabric/pairs/blame.hpp"
#include "fabric/pairs/fold.hpp"
#include "fabric/pairs/path_table.hpp"
#include "fabric/pairs/reach_map.hpp"

namespace fabricgate::fabric {
namespace {

void append(std::vector<Culprit>& all, std::vector<Culprit> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

bool known(const RailFact& fact, const PathTable& table) {
  return fact.node >= 0 && fact.node < table.nodes() && fact.rail >= 0 && fact.rail < table.rails();
}

/// What the nodes say of themselves; carriers before MTUs, so that a dead port is not called a wrong MTU.
std::vector<Culprit> own_facts(PathTable& table, const Observation& observation) {
  std::vector<Culprit> out;
  for (const bool down : {true, false}) {
    for (const RailFact& fact : observation.facts) {
      const bool mtu = !fact.down && fact.mtu > 0 && fact.mtu_declared > 0 && fact.mtu != fact.mtu_declared;
      if (!known(fact, table) || !(down ? fact.down : mtu)) continue;
      const End end{fact.node, fact.rail};
      Culprit culprit{.kind = CulpritKind::rail, .effect = down ? Effect::down : Effect::mtu, .ends = {end}};
      culprit.evidence = table.take(end, true);
      if (culprit.evidence.empty()) continue;
      culprit.evidence = table.bad_paths(end);
      culprit.contradicted = down ? table.good_paths(end) : 0;
      culprit.confidence = culprit.contradicted > 0 ? 0.4 : 0.99;
      culprit.text = down ? "the node itself reports the interface down" : "the node itself reports another MTU";
      out.push_back(culprit);
    }
  }
  return out;
}

std::vector<Culprit> from_reach(PathTable& table, const Observation& observation) {
  std::vector<Culprit> out = crossings(displaced_interfaces(observation), observation);
  append(out, duplicates(duplicate_addresses(observation), observation));
  for (Culprit& culprit : out) {
    for (const End& end : culprit.ends) {
      for (const DirectedPath& path : table.bad_paths(end)) culprit.evidence.push_back(path);
      table.take(end, true);
    }
  }
  return out;
}

std::vector<std::string> leaves_of(const Observation& observation, int rail) {
  std::vector<std::string> out;
  for (const std::vector<std::string>& node : observation.leaves) {
    out.push_back(rail < static_cast<int>(node.size()) ? node[rail] : "");
  }
  return out;
}

/// Steps 2 to 7.
std::vector<Culprit> blame_rails(PathTable& table, const Observation& observation) {
  std::vector<Culprit> out;
  for (int rail = 0; rail < table.rails(); ++rail) {
    append(out, blame_fabric(table, rail, true));
    append(out, blame_leaves(table, rail, leaves_of(observation, rail)));
    append(out, blame_ends(table, rail));
    append(out, blame_fabric(table, rail));
    append(out, blame_groups(table, rail));
    append(out, blame_mostly_bad_ends(table, rail));
    append(out, blame_pairs(table, rail));
  }
  return out;
}

void finish(std::vector<Culprit>& culprits, const PathTable& table) {
  for (Culprit& culprit : culprits) {
    std::sort(culprit.evidence.begin(), culprit.evidence.end());
    culprit.evidence.erase(std::unique(culprit.evidence.begin(), culprit.evidence.end()), culprit.evidence.end());
    describe(culprit, table);
  }
}

}  // namespace

std::vector<Culprit> localise(const Observation& observation) {
  PathTable table(observation);
  PathTable contention = table.contention_view();
  std::vector<Culprit> out = own_facts(table, observation);
  append(out, misrouted(observation));
  for (const Culprit& culprit : out)
    for (const DirectedPath& path : culprit.evidence) table.take(path);
  append(out, from_reach(table, observation));
  std::vector<Culprit> blamed = blame_rails(table, observation);
  finish(blamed, table);
  finish(out, table);
  append(out, fold(std::move(blamed), observation));
  if (!contention.any_open()) return out;
  std::vector<Culprit> contended = blame_rails(contention, observation);
  finish(contended, contention);
  for (Culprit& culprit : contended) culprit.effect = Effect::contention;
  append(out, fold(std::move(contended), observation));
  return out;
}

}  // namespace fabricgate::fabric
