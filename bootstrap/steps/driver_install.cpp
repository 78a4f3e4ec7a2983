// Runs an installation and tells from its output why it failed. Installers end with 0 although files are missing, and
// with 1 for nearly everything.
#include <algorithm>

#include "bootstrap/steps/driver.hpp"
#include "bootstrap/steps/package_run.hpp"
#include "inventory/logs/driver_log.hpp"

namespace fabricgate::bootstrap {
namespace {

/// Return codes of mlnxofedinstall, from its documentation.
struct ReturnCode {
  int code;
  const char *cause, *meaning;
};
constexpr ReturnCode return_codes[] = {
    {2, "stage.step_failed", "no firmware was found for the adapter"},
    {22, "stage.step_failed", "invalid parameter"},
    {28, "stage.disk_full", "not enough free space"},
    {171, "stage.step_failed", "not applicable to this system: is the hardware there?"},
    {172, "stage.step_failed", "prerequisites are not met: software is missing or the hardware is not set up"},
    {173, "stage.step_failed", "the mst driver could not be started"}};

std::string last_lines(const std::string& text) {
  const auto lines = terminal_lines(text);
  std::string out;
  for (std::size_t i = lines.size() < 6 ? 0 : lines.size() - 6; i < lines.size(); ++i)
    out += (out.empty() ? "" : "\n") + lines[i];
  return out;
}

/// The logs that the output names, and those named in them; the first that has a compiler's error is the one.
void quote_first_error(Host& host, const std::string& said, Finding& finding) {
  constexpr std::size_t most = 16;
  std::vector<std::string> logs = named_logs(said);
  for (std::size_t i = 0; i < logs.size() && i < most; ++i) {
    auto text = host.read(logs[i]);
    if (!text) continue;
    if (finding.subject.file.empty()) finding.subject.file = logs[i];
    if (const auto error = first_compiler_error(*text)) {
      finding.subject.file = logs[i];
      finding.subject.line = error->line;
      finding.evidence.push_back({error->line, error->text});
      finding.found += "; first error: " + error->text;
      return;
    }
    for (const std::string& log : named_logs(*text))
      if (std::find(logs.begin(), logs.end(), log) == logs.end()) logs.push_back(log);
  }
}

/// Why it failed, in the order in which one thing brings about the other.
Finding explain(StepContext& context, const CommandLine& command, const CommandResult& result) {
  const std::string said = result.out + "\n" + result.err;
  const Subject node{.host = context.desired.node};
  const std::string expected = shell_line(command) + " succeeds";
  if (const std::string cause = classify_failure(said); !cause.empty())
    return make_finding(cause, node, expected, last_lines(said));
  if (said.find("Key was rejected") != std::string::npos)
    return make_finding("driver.module_unsigned", node, expected, last_lines(said));
  if (const std::string line = build_failure(said); !line.empty()) {
    Finding finding = make_finding("driver.build_failed", node, "modules built for this kernel", line);
    quote_first_error(context.host, said, finding);
    return finding;
  }
  const bool installer = command.front().find("mlnxofedinstall") != std::string::npos;
  for (const ReturnCode& known : return_codes)
    if (installer && known.code == result.exit_code)
      return make_finding(known.cause, node, expected, std::string(known.meaning) + ": " + last_lines(said));
  return make_finding("stage.step_failed", node, expected,
                      "exit code " + std::to_string(result.exit_code) + ": " + last_lines(said));
}

/// A list of packages that could not be read anew fails nothing yet: what is asked for may be in the old one.
bool may_fail(const CommandLine& command) {
  return command.size() == 2 && command[1] == "update";
}

bool succeeded(const CommandResult& result) {
  const std::string said = result.out + result.err;
  return result.exit_code == 0 && said.find("No space left on device") == std::string::npos &&
         build_failure(said).empty();
}

Status run_all(StepContext& context, const PackageManager& manager, const std::vector<CommandLine>& commands) {
  std::string before;
  for (const CommandLine& command : commands) {
    auto result = run_unlocked(context, manager, command);
    if (!result) return result.error();
    if (succeeded(*result)) continue;
    if (may_fail(command)) {
      before = result->out + result->err;
      continue;
    }
    result->err = before + result->err;
    context.findings.push_back(explain(context, command, *result));
    return Error{ErrorKind::native, shell_line(command) + ": " + context.findings.back().found, result->exit_code};
  }
  return {};
}

}  // namespace

Status install_driver(StepContext& context, const SeenDriver& seen) {
  const DriverSpec& driver = context.desired.driver;
  const PackageManager& manager = package_manager_named(seen.manager);
  const Installation todo = installation_of(driver, seen);
  Status status = run_all(context, manager, todo.commands);
  // what a finding is about has its logs elsewhere; a folder that stays is unpacked over by the next run
  if (!todo.cleanup.empty()) (void)context.host.run(todo.cleanup, context.deadline.at_most(60));
  return status;
}

}  // namespace fabricgate::bootstrap
