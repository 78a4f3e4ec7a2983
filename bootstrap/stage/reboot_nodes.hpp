#pragma once
/// Reboots over SSH: the means of reboot.hpp.
#include "bootstrap/stage/reboot.hpp"
#include "bootstrap/stage/stage_plan.hpp"

namespace fabricgate::bootstrap {

using StageAgain = std::function<Result<std::vector<NodeReport>>(const std::vector<std::size_t>&)>;

/// What StageOptions::reboot allows, for the nodes of `reports` that wait for it; `again` stages some of them.
Status reboot_nodes(const StagePlan& plan, std::vector<NodeReport>& reports, Deadline deadline,
                    const StageAgain& again);

}  // namespace fabricgate::bootstrap
