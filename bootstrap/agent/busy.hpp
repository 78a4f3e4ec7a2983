#pragma once
/// Whether somebody uses the node.
#include <string>
#include <vector>

#include "inventory/desired/desired.hpp"
#include "inventory/observe/facts.hpp"

namespace fabricgate::bootstrap {

/// Why the node must not be changed now: "GPU process 7 python3", "/data mounted from 172.16.0.9 over rail0"; empty:
/// free.
std::vector<std::string> busy_reasons(const Desired& desired, const Facts& facts);

}  // namespace fabricgate::bootstrap
