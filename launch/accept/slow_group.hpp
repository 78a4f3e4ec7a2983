#pragma once
/// Where among the nodes of a slow collective it is slow.
#include <functional>
#include <string>
#include <vector>

namespace fabricgate::launch {

using Hosts = std::vector<std::string>;

/// Follows the half of `hosts` that is slow and returns the smallest group found. It ends where both halves are good,
/// since the fault is between them then, and at groups of fewer than four, whose halves are no collective. `is_slow`
/// measures.
Hosts slow_group(Hosts hosts, const std::function<bool(const Hosts&)>& is_slow);

}  // namespace fabricgate::launch
