/// Distribution packages. A package manager that is at work is waited for, a bounded time; its locks are never removed,
/// for they are what keeps its database whole.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "bootstrap/steps/package_manager.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr double install_limit_s = 1800;
constexpr double poll_s = 1;
constexpr std::int64_t least_space = std::int64_t{64} << 20;

bool valid_name(const std::string& name) {
  return !name.empty() && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._:=~*") ==
             std::string::npos;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// "libucx0:amd64=1.13.1-1" is asked for by its name alone.
std::string bare(const std::string& package) {
  return package.substr(0, package.find_first_of(":="));
}

Result<json> observe_packages(StepContext& context) {
  const Desired& desired = context.desired;
  if (desired.packages.empty()) return json::object();
  for (const std::string& name : desired.packages)
    if (!valid_name(name)) return Error{ErrorKind::parse, "'" + name + "' is not the name of a package", 0};
  const PackageManager* manager = package_manager(context.host);
  if (!manager) return Error{ErrorKind::unavailable, "packages: neither apt-get nor dnf on this node", 0};
  Words names;
  for (const std::string& name : desired.packages) names.push_back(bare(name));
  auto answer = context.host.run(with(manager->query, names), context.deadline.at_most(30));
  if (!answer) return answer.error();
  const auto installed = parse_installed(*manager, answer->out);
  json missing = json::array();
  for (const std::string& name : desired.packages)
    if (std::find(installed.begin(), installed.end(), bare(name)) == installed.end()) missing.push_back(name);
  auto unfinished = context.host.list("/var/lib/dpkg/updates");
  return json{{"manager", manager->name},
              {"missing", missing},
              {"interrupted", manager->name == "apt" && unfinished && !unfinished->empty()}};
}

/// What is run, in order; the last one installs.
std::vector<Words> commands_for(const PackageManager& manager, const json& observed) {
  std::vector<Words> out;
  const auto missing = observed.at("missing").get<Words>();
  if (missing.empty()) return out;
  if (observed.at("interrupted").get<bool>()) out.push_back(manager.repair);
  out.insert(out.end(), manager.prepare.begin(), manager.prepare.end());
  out.push_back(with(manager.install, missing));
  return out;
}

StepPlan plan_packages(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (desired.packages.empty()) return plan;
  if (!desired.manage.packages) {
    for (const json& name : observed.at("missing"))
      plan.findings.push_back(make_finding("host.package_absent", {.host = desired.node},
                                           "package " + name.get<std::string>() + " installed", "not installed"));
    return plan;
  }
  for (const Words& command : commands_for(package_manager_named(text_under(observed, "manager")), observed))
    plan.actions.push_back({shell_line(command)});
  return plan;
}

Error blame(StepContext& context, const std::string& cause, const std::string& expected, const std::string& found) {
  context.findings.push_back(make_finding(cause, {.host = context.desired.node}, expected, found));
  return {ErrorKind::native, found, 0};
}

/// Runs while no other package manager does: waits for the holder, and again when one came in between.
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

std::string tail(const std::string& text) {
  return text.size() > 600 ? "…" + text.substr(text.size() - 600) : text;
}

Status apply_packages(StepContext& context, const json& observed) {
  const std::string name = text_under(observed, "manager");
  const PackageManager& manager = package_manager_named(name);
  for (const char* path : {"/var/cache", "/usr"})
    if (auto space = context.host.free_bytes(path); space && *space < least_space) {
      context.findings.push_back(make_finding("stage.disk_full", {.host = context.desired.node, .file = path},
                                              "at least 64 MiB free", std::to_string(*space) + " bytes free"));
      return Error{ErrorKind::io, std::string("no space for packages on ") + path, ENOSPC};
    }
  std::string said;
  const auto commands = commands_for(manager, observed);
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

}  // namespace

const Step packages_step{"packages", observe_packages, plan_packages, apply_packages};

}  // namespace fabricgate::bootstrap
