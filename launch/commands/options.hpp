#pragma once
/// CLI11 around a command: parse errors and --help become exit codes. Include in commands/*.cpp alone: it is large.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "results/verdict.hpp"

namespace fabricgate::launch {

/// The exit code to return at once (help, or 64), or nothing when the options are good.
inline std::optional<int> parse_options(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  return std::nullopt;
}

}  // namespace fabricgate::launch
