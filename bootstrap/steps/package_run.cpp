#include "bootstrap/steps/package_run.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace fabricgate::bootstrap {
namespace {

using Words = std::vector<std::string>;

constexpr double install_limit_s = 1800;
constexpr double poll_s = 1;
constexpr std::int64_t least_space = std::int64_t{64} << 20;

Error blame(StepContext& context, const std::string& cause, const std::string& expected, const std::string& found) {
  context.findings.push_back(make_finding(cause, {.host = context.desired.node}, expected, found));
  return {ErrorKind::native, found, 0};
}

std::string tail(const std::string& text) {
  return text.size() > 600 ? "…" + text.substr(text.size() - 600) : text;
}

}  // namespace

Result<CommandResult> run_unlocked(StepContext& context, const PackageManager& manager, const Words& command) {
  const Deadline wait = context.deadline.at_most(context.lock_wait_s);
  for (;;) {
    std::string holder = lock_holder(context.host, manager);
    if (holder.empty()) {
      auto result = context.host.run(command, context.deadline.at_most(install_limit_s));
      if (!result || result->exit_code == 0 || classify_failure(result->out + result->err) != "stage.package_lock")
        return result;
      holder = lock_holder(context.host, manager);
      if (holder.empty()) holder = "a process that could not be seen: " + result->err.substr(0, 200);
    }
    if (wait.passed())
      return blame(context, "stage.package_lock",
                   "the package manager free within " + std::to_string(static_cast<int>(context.lock_wait_s)) + " s",
                   "held by process " + holder);
    if (context.stop && context.stop())
      return Error{ErrorKind::timeout, "told to end while process " + holder + " holds the package manager", 0};
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(poll_s, wait.left_s())));
  }
}

Status install_packages(StepContext& context, const PackageManager& manager, const std::vector<Words>& commands) {
  for (const char* path : {"/var/cache", "/usr"})
    if (auto space = context.host.free_bytes(path); space && *space < least_space) {
      context.findings.push_back(make_finding("stage.disk_full", {.host = context.desired.node, .file = path},
                                              "at least 64 MiB free", std::to_string(*space) + " bytes free"));
      return Error{ErrorKind::io, std::string("no space for packages on ") + path, ENOSPC};
    }
  std::string said;
  for (const Words& command : commands) {
    auto result = run_unlocked(context, manager, command);
    if (!result) return result.error();
    said += result->out + result->err;
    if (result->exit_code == 0 || command != commands.back()) continue;
    const std::string cause = classify_failure(said);
    return blame(context, cause.empty() ? "stage.step_failed" : cause, shell_line(command) + " succeeds",
                 tail(result->err.empty() ? result->out : result->err));
  }
  return {};
}

}  // namespace fabricgate::bootstrap
