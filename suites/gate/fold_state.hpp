#pragma once
/// What the parts of the fold share. Only for suites/gate.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suites/gate/gate.hpp"

namespace fabricgate::suites {

/// Order in which a node can leave; link.counters comes after everything.
struct Fold {
  const GateInput& input;
  const Exhibits& exhibits;
  GateResult result;
  std::set<const Exhibit*> forgiven;  ///< suspects that were good in every repetition

  bool demanded(const char* check) const;
  std::size_t nodes() const { return input.inventory.nodes.size(); }
  bool required(int node) const { return input.inventory.nodes[static_cast<std::size_t>(node)].required; }
  NodeResult& node(int index) { return result.nodes[static_cast<std::size_t>(index)]; }
  /// The node does not open the gate by what was folded until now (a node of which nothing is known does).
  bool shut(int node) const;
  /// A required node is shut: the gate is, whatever else is missing.
  bool required_shut() const;
  /// Folds a verdict of a tier into the node.
  void fold(int node, Tier tier, Verdict verdict);
  void add(int node, Tier tier, const Finding& finding);
  /// Missing evidence; with `blame` >= 0 the node carries it too.
  void miss(Missing missing, Tier tier, int blame);
};

/// stage, host and link: node and rail scope, and host.fleet.
void fold_nodes(Fold& fold);
/// Rails read again at the end of the run.
void fold_end(Fold& fold);
/// Bytes that the rails counted, against what was sent and received over them.
void fold_traffic(Fold& fold);
/// A rail whose links have one lower speed on every node: one finding of the rail.
void fold_declared(Fold& fold);
void fold_pairs(Fold& fold);
/// A warning of a pair on a rail.
struct PairWarning {
  int a = 0, b = 0;
  Finding finding;
};
/// Warnings of one cause that a node has with most of its partners are one of the node.
void fold_warnings(Fold& fold, std::vector<PairWarning> warnings);
/// Nodes that stand still for a moment in most of their measurements: a finding of each; returns them.
std::set<int> fold_stalls(Fold& fold);
/// Expected pairs that have no record; names the node that most of them share.
void fold_missing_pairs(Fold& fold);
void fold_collective(Fold& fold);
/// A node whose management network is far slower than that of most.
void fold_overlay(Fold& fold);
/// The upper one of an even number, 0 of none; reorders `values`.
double median(std::vector<double>& values);
/// Medians of the pair tier for the side-by-side table.
void summarise_paths(Fold& fold);
/// Cluster verdict, reason, text.
void conclude(Fold& fold);

}  // namespace fabricgate::suites
