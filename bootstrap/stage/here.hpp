#pragma once
/// The stage of the one node that this process is on, for a process that a launcher put there: the same conversation,
/// steps and report as over SSH, each command run here. Needs no SSH library and no key.
#include "bootstrap/stage/report.hpp"
#include "bootstrap/stage/stage_plan.hpp"
#include "inventory/host/host.hpp"
#include "results/deadline.hpp"

namespace fabricgate::bootstrap {

/// A report of one node; its clock is not compared with itself, and its versions with nobody's: see judge_versions. A
/// process that is not root's runs commands by `sudo -n`. The busy hook is the caller's business. Errors as of
/// make_stage_plan.
Result<StageReport> stage_here(const Inventory& inventory, std::size_t node, const StageOptions& options, Host& host,
                               Deadline deadline);

}  // namespace fabricgate::bootstrap
