#pragma once
/// Running a package manager, or an installer that calls one.
#include "bootstrap/steps/package_manager.hpp"

namespace fabricgate::bootstrap {

/// Runs while no other package manager does: waits for the holder, a bounded time, and again when one came in between.
/// A lock that is not given back is stage.package_lock among the context's findings and an Error.
Result<CommandResult> run_unlocked(StepContext& context, const PackageManager& manager,
                                   const std::vector<std::string>& command);

/// Looks at the free space, then runs the commands in order. Only the last one must succeed; otherwise the findings say
/// why, in the catalogue's words where what was said has some.
Status install_packages(StepContext& context, const PackageManager& manager,
                        const std::vector<std::vector<std::string>>& commands);

}  // namespace fabricgate::bootstrap
