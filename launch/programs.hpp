#pragma once
/// Where the other programs of this installation are.
#include <string>

#include "results/result.hpp"

namespace fabricgate::launch {

/// Beside the running program, in ../libexec/fabricgate, or where the build tree has it. Error (unavailable) names the
/// places looked at.
Result<std::string> local_program(const std::string& name);

}  // namespace fabricgate::launch
