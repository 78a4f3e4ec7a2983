#pragma once
/// Bare nodes to staged nodes, from the head: one SSH session per node in which the agent is put in place, asked for
/// facts and a plan or told to apply it, and fabricgate's own programs are deployed. One node never stops another;
/// every node ends with a state and a reason. What is done is found by looking, so a killed stage is finished by the
/// next one.
#include <functional>
#include <string>
#include <vector>

#include "bootstrap/stage/report.hpp"
#include "bootstrap/stage/stage_plan.hpp"
#include "inventory/inventory.hpp"
#include "results/deadline.hpp"

namespace fabricgate::bootstrap {

using NodeDone = std::function<void(const NodeReport&)>;

/// Changes nothing. Where the agent is not deployed yet it is put into /var/tmp/fabricgate-<random>, run, and removed.
/// Errors concern all nodes: local programs or the key cannot be read.
Result<StageReport> plan_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                               const StageOptions& options, Deadline deadline, const NodeDone& done = {});
Result<StageReport> stage_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                const StageOptions& options, Deadline deadline, const NodeDone& done = {});

/// Seconds within which so many nodes are done: one after another in their window, each at its own limit. Reboots add, for
/// each wave, the look before it and the stage after it.
double longest_s(const Inventory& inventory, std::size_t nodes, const StageOptions& options);

/// Error (parse) for a name that no step has, with the nearest one. The two above say the same before they connect.
Status check_step_names(const std::vector<std::string>& names);

/// All nodes of the inventory, or those named in host ranges; Error (parse) for a name it does not have.
Result<std::vector<std::size_t>> select_nodes(const Inventory& inventory, const std::string& ranges);

}  // namespace fabricgate::bootstrap
