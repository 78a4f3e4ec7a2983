#pragma once
/// Tasks of each node of a Slurm allocation.
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate {

/// SLURM_TASKS_PER_NODE, in the order of the node list: "4(x3),2" → {4, 4, 4, 2}. Error (kind parse) names the part
/// that is not `tasks` or `tasks(xnodes)`, numbers of 1 to 65,536, or says that there are more than 65,536 nodes.
Result<std::vector<int>> expand_tasks_per_node(std::string_view text);

}  // namespace fabricgate
