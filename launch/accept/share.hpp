#pragma once
/// A stage divided between processes: what each of them has to tell the first one.
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/stage/report.hpp"

namespace fabricgate::launch {

/// All of the nodes but facts beyond versions, which stay where they were read, and what steps said in detail.
std::string to_text(const std::vector<bootstrap::NodeReport>& nodes);
Result<std::vector<bootstrap::NodeReport>> nodes_from_text(const std::string& text);

/// One report in inventory order out of all shares, versions compared over all nodes. A share that did not arrive
/// (nullopt) or cannot be read is named in `lost` by its rank.
struct Shares {
  bootstrap::StageReport report;
  std::vector<int> lost;
};
Shares join_shares(const std::vector<std::optional<std::string>>& texts, bool dry_run);

/// Exit code: a node that failed, is blocked or was not reached 1; else an interrupted one 2; else the worst finding of a node that is called
/// ready; a plan with something to do 0.
ExitCode exit_code_of(const bootstrap::StageReport& report);

}  // namespace fabricgate::launch
