#pragma once
/// The gate: records in, verdicts out. A pure fold; what must be there comes from inventory × suite, never from the
/// records found, so that a missing line is as good as a failed one. Method: gate.cpp.
#include <vector>

#include "results/gate_result.hpp"
#include "suites/gate/exhibit.hpp"

namespace fabricgate::suites {

using fabricgate::GateResult;
using fabricgate::Missing;
using fabricgate::NodeResult;
using fabricgate::PathSummary;

GateResult gate(const GateInput& input, const std::vector<RecordFile>& files);
/// The same from exhibits already read.
GateResult gate(const GateInput& input, const Exhibits& exhibits);

}  // namespace fabricgate::suites
