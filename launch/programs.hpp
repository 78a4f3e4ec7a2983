#pragma once
/// Where the other programs of this installation are.
#include <string>

#include "results/result.hpp"

namespace fabricgate::launch {

/// Beside the running program, in ../libexec/fabricgate, or where the build tree has it. Error (unavailable) names the
/// places looked at.
Result<std::string> local_program(const std::string& name);
/// The same, and then where staging puts it on a node.
Result<std::string> node_program(const std::string& name, const std::string& install_dir);

/// By PATH. Error (unavailable) names PATH and ends with the remedy.
Result<std::string> program_in_path(const std::string& name, const std::string& remedy);

}  // namespace fabricgate::launch
