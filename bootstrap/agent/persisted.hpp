#pragma once
/// What the unit of the persist step runs at boot.
#include "bootstrap/agent/serve.hpp"

namespace fabricgate::bootstrap {

/// Applies the steps of a persisted file (persist.hpp), each on the rails named for it, as a stage would. What the node
/// is used for is not asked: at boot nobody uses it yet. Error: the file cannot be read or is none of ours.
Result<std::vector<StepReport>> apply_persisted(Host& host, const std::string& path, double deadline_s);

/// "sriov: applied" and its commands, for the journal of systemd.
std::string to_text(const std::vector<StepReport>& steps);

/// True when every step is as it should be.
bool all_done(const std::vector<StepReport>& steps);

}  // namespace fabricgate::bootstrap
