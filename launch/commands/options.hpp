#pragma once
/// CLI11 around a command: parse errors and --help become exit codes. Include in commands/*.cpp alone: it is large.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "results/verdict.hpp"

namespace fabricgate::launch {

/// Seconds for the pair tier, 0 or from 1 to 1e9, in decimal; the message is short, where CLI11's own for a range is
/// not.
inline void add_budget(CLI::App& app, double& budget_s) {
  const auto seconds = [](std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool decimal = !text.empty() && text.find_first_not_of("0123456789.eE+") == std::string::npos && *end == '\0';
    return decimal && (value == 0 || (value >= 1 && value < 1e9))
               ? std::string()
               : "'" + text + "' is not a number of seconds (1 or more; 0: no limit)";
  };
  app.add_option("--budget", budget_s,
                 "seconds for the pair tier: fewer rounds. READY needs the pairs that the suite demands (every pair up to 128 nodes), so "
                 "with too small a budget the run is inconclusive by gate.coverage")
      ->check(CLI::Validator(seconds, "SECONDS"));
}

inline void add_runs(CLI::App& app, std::string& runs) {
  const auto named = [](std::string& text) { return text.empty() ? std::string("a folder has a name") : std::string(); };
  app.add_option("--runs", runs, "folder that run folders are made in (under mpirun: of rank 0's node)")->capture_default_str()->check(CLI::Validator(named, "FOLDER"));
}

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
