#include <fmt/format.h>

#include <algorithm>

#include "launch/commands/command.hpp"
#include "launch/commands/options.hpp"
#include "results/cause.hpp"

namespace fabricgate::launch {
namespace {

void print_one(const Cause& cause) {
  fmt::print("{}\n  {}\n  verdict  {}\n  action   {}\n  meaning  {}\n  remedy   {}\n", cause.id, cause.title, to_string(cause.verdict),
             cause.action, cause.meaning, cause.remedy);
}

}  // namespace

int run_causes(const std::vector<std::string>& arguments) {
  CLI::App app("The catalogue of causes. Every finding of fabricgate carries an id of it.", "fabricgate causes");
  std::string id;
  app.add_option("id", id, "one cause, or the beginning of several ids");
  if (const auto code = parse_options(app, arguments)) return *code;
  if (const Cause* cause = find_cause(id)) {
    print_one(*cause);
    return 0;
  }
  int shown = 0;
  for (const Cause& cause : causes()) {
    if (!cause.id.starts_with(id)) continue;
    fmt::print("{:<32}{:<14}{}\n", cause.id, to_string(cause.verdict), cause.title);
    ++shown;
  }
  if (shown > 0) return 0;
  fmt::print(stderr, "fabricgate causes: no cause begins with '{}'\n", id);
  return static_cast<int>(ExitCode::usage);
}

}  // namespace fabricgate::launch
