// Taking the loaded modules away and loading the installed ones, where nobody uses them and nobody is cut off by it.
#include <algorithm>

#include "bootstrap/steps/driver.hpp"
#include "inventory/logs/driver_log.hpp"

namespace fabricgate::bootstrap {
namespace {

constexpr double restart_limit_s = 300;

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : "; ") + text;
  return out;
}

bool busy(const StackUser& user) {
  return user.busy;
}

bool is_peermem(const StackUser& user) {
  return user.module == "nvidia_peermem" || user.module == "nv_peer_mem";
}

bool nothing_to_reload(const SeenDriver& seen) {
  return seen.stale.empty();
}

/// Of the modules of the stack; mlx4 and the like are left out by openibd on every node of today.
bool matters(const std::string& module) {
  for (const char* name :
       {"mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_umad", "ib_ipoib", "rdma_cm", "rdma_ucm"})
    if (module == name) return true;
  return false;
}

void blame_output(StepContext& context, const CommandResult& result) {
  const std::string said = result.out + "\n" + result.err;
  const bool rejected = said.find("Key was rejected") != std::string::npos;
  for (const std::string& module : failed_modules(said))
    if (matters(module))
      context.findings.push_back(make_finding(rejected ? "driver.module_unsigned" : "driver.module_load_failed",
                                              {.host = context.desired.node, .module = module}, "module loaded",
                                              "openibd could not load it"));
  for (const std::string& held : held_modules(said))
    context.findings.push_back(make_finding("driver.storage_modules_loaded",
                                            {.host = context.desired.node, .module = held.substr(0, held.find(':'))},
                                            "a module that can be unloaded", held));
}

Status run_one(StepContext& context, const CommandLine& command) {
  auto result = context.host.run(command, context.deadline.at_most(restart_limit_s));
  if (!result) return result.error();
  const std::size_t before = context.findings.size();
  blame_output(context, *result);
  if (result->exit_code == 0 && context.findings.size() == before) return {};
  const auto lines = terminal_lines(result->out + "\n" + result->err);
  return Error{ErrorKind::native,
               shell_line(command) + ": exit code " + std::to_string(result->exit_code) + ": " + listed(lines),
               result->exit_code};
}

}  // namespace

std::vector<CommandLine> reload_commands(const DriverSpec& driver, const SeenDriver& seen) {
  std::vector<CommandLine> out;
  if (driver.reload == Reload::never || !seen.openibd) return out;
  if (std::any_of(seen.users.begin(), seen.users.end(), busy)) return out;
  if (!seen.guarded.empty() && driver.reload != Reload::always) return out;
  for (const StackUser& user : seen.users)
    if (!user.module.empty()) out.push_back({"modprobe", "-r", user.module});
  // a restart that cuts its own session goes on without it
  if (seen.guarded.empty())
    out.push_back({openibd, "restart"});
  else
    out.push_back({"systemd-run", "--wait", "--pipe", "--collect", openibd, "restart"});
  for (const StackUser& user : seen.users)
    if (is_peermem(user)) out.push_back({"modprobe", user.module});
  return out;
}

std::vector<Finding> forbidden_reload(const Desired& desired, const SeenDriver& seen) {
  if (nothing_to_reload(seen)) return {};
  const Subject node{.host = desired.node};
  const std::string stale = listed(seen.stale);
  if (desired.driver.reload == Reload::never || !seen.openibd)
    return {make_finding("driver.reboot_required", node, "the installed driver loaded",
                         stale + (seen.openibd ? "; reload is 'never'" : "; no " + std::string(openibd)))};
  std::vector<Finding> out;
  for (const StackUser& user : seen.users)
    if (user.busy)
      out.push_back(make_finding(user.module.empty() ? "stage.node_busy" : "driver.storage_modules_loaded",
                                 {.host = desired.node, .module = user.module}, "a driver that nobody uses: " + stale,
                                 user.user));
  if (out.empty() && !seen.guarded.empty() && desired.driver.reload != Reload::always)
    out.push_back(
        make_finding("driver.management_nic", node, "a restart that leaves the way to the node", seen.guarded));
  return out;
}

Status reload_driver(StepContext& context, const SeenDriver& seen) {
  if (nothing_to_reload(seen)) return {};
  Status first;
  for (const CommandLine& command : reload_commands(context.desired.driver, seen)) {
    const Status status = run_one(context, command);
    if (!status && first) first = status;
    if (!status && command.front() == "modprobe" && command[1] == "-r") break;  // still in use: nothing is restarted
  }
  return first;
}

}  // namespace fabricgate::bootstrap
