#pragma once
/// What later steps of the gate need of a sample, so that the sample itself can be dropped.
#include "suites/gate/exhibit.hpp"

namespace fabricgate::suites {

/// Fills mode, paths, figures, reach, rail and digest of an exhibit from its sample, then drops the sample. A sample that
/// cannot be read leaves them empty: its record is inconclusive anyhow.
void extract(const GateInput& input, Exhibit& exhibit);

/// The part of pair.rail and pair.overlay.
void extract_pair(const GateInput& input, Exhibit& exhibit);

/// The part of pair.rdma.
void extract_pair_rdma(const GateInput& input, Exhibit& exhibit);

/// Bytes/s that the rail of the exhibit is declared with, of the slower end; 0: not declared at both.
double pair_rate(const Inventory& inventory, const Exhibit& exhibit);

/// Place in rail_names(), -1: none of that name.
int rail_index(const Inventory& inventory, const std::string& name);

}  // namespace fabricgate::suites
