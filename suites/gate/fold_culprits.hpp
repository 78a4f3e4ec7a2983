#pragma once
/// From localised culprits to findings of nodes and of the cluster. Only for suites/gate.
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {

/// Paths that a known part explains, so that what else is bad on them is its echo.
struct Explained {
  std::set<std::tuple<int, int, int>> paths;  ///< from, to, rail of culprits that keep the gate shut
  void add(int from, int to, int rail) { paths.insert({from, to, rail}); }
  bool has(const fabric::PathResult& path) const { return paths.count({path.from, path.to, path.rail}) != 0; }
};

/// The metrics whose limits make a path slow, or a lossy one.
struct HeldAgainst {
  const char *share, *loss;
};

/// Findings of the culprits into the fold, each first given to `amend` where there is one; returns the culprits that
/// keep the gate shut.
std::vector<fabric::Culprit> fold_culprits(
    Fold& fold, const fabric::Observation& observation, Explained& explained, const HeldAgainst& metrics,
    const std::function<void(const fabric::Culprit&, Finding&)>& amend = nullptr);

/// Paths of suspects of this check that were forgiven.
Explained forgiven_paths(const Fold& fold, const char* check);

/// pair.rdma, after what is wrong without RDMA. `lost`: by node, whether it fell silent.
void fold_rdma(Fold& fold, const std::vector<bool>& lost, Explained& explained);

}  // namespace fabricgate::suites
