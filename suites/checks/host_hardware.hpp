#pragma once
/// What host.facts says of PCI. Only for suites/checks.
#include <vector>

#include "inventory/desired/desired.hpp"
#include "inventory/observe/facts.hpp"
#include "results/finding.hpp"

namespace fabricgate::suites {

/// The path of each rail's adapter to the root against the smallest maximum on it, and adapters of the rails' vendor beside
/// the rails that cannot be used.
void judge_hardware(const Desired& want, const Facts& facts, std::vector<Finding>& findings);

}  // namespace fabricgate::suites
