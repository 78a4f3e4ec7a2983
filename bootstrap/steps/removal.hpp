#pragma once
/// The undo of steps that leave files behind. Only what begins with our own first line is taken away: a file that a
/// person has made his own stays.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bootstrap/steps/step.hpp"

namespace fabricgate::bootstrap {

using CommandLine = std::vector<std::string>;

/// Those of `paths` that are there and ours; `then` makes what runs hear of it. `note` says what stays as it is.
nlohmann::json observe_own_files(Host& host, const std::vector<std::string>& paths,
                                 const std::vector<CommandLine>& then, const std::string& note);
StepPlan plan_removal(const Desired& desired, const nlohmann::json& observed);
Status apply_removal(StepContext& context, const nlohmann::json& observed);

}  // namespace fabricgate::bootstrap
