/// Kernel modules: loaded now, and at boot through one drop-in. What is built into the kernel counts as loaded.
#include <algorithm>

#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/removal.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* drop_in = "/etc/modules-load.d/fabricgate.conf";

/// The kernel writes '_' where file names may have '-'.
std::string kernel_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool valid_name(const std::string& name) {
  return !name.empty() && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

std::string wanted_file(const Desired& desired) {
  std::string out = file_header;
  for (const std::string& module : desired.modules) out += module + "\n";
  return out;
}

/// "kernel/net/ipv4/tcp_bbr.ko" → tcp_bbr
std::vector<std::string> builtin_modules(Host& host) {
  std::vector<std::string> out;
  const std::string kernel = readers::read_attribute(host, "/proc/sys/kernel/osrelease");
  auto text = host.read("/lib/modules/" + kernel + "/modules.builtin");
  if (!text) return out;
  for (const std::string& line : readers::lines_of(*text)) {
    const std::string file = line.substr(line.rfind('/') + 1);
    out.push_back(kernel_name(file.substr(0, file.find(".ko"))));
  }
  return out;
}

Result<json> observe_modules(StepContext& context) {
  std::vector<std::string> loaded = builtin_modules(context.host);
  if (auto text = context.host.read("/proc/modules"))
    for (const std::string& name : readers::parse_modules(*text)) loaded.push_back(name);
  json missing = json::array();
  for (const std::string& module : context.desired.modules) {
    if (!valid_name(module)) return Error{ErrorKind::parse, "'" + module + "' is not the name of a kernel module", 0};
    const std::string name = kernel_name(module);
    const bool present =
        std::find(loaded.begin(), loaded.end(), name) != loaded.end() || context.host.exists("/sys/module/" + name);
    if (!present) missing.push_back(module);
  }
  auto file = context.host.read(drop_in);
  return json{{"missing", missing}, {"file", file ? *file : ""}};
}

StepPlan plan_modules(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (desired.modules.empty()) return plan;
  if (!desired.manage.modules) {
    for (const json& module : observed.at("missing"))
      plan.findings.push_back(make_finding("host.module_absent",
                                           {.host = desired.node, .module = module.get<std::string>()}, "module loaded",
                                           "not loaded"));
    return plan;
  }
  if (text_under(observed, "file") != wanted_file(desired))
    plan.actions.push_back(write_action(drop_in, wanted_file(desired)));
  for (const json& module : observed.at("missing"))
    plan.actions.push_back({shell_line({"modprobe", module.get<std::string>()})});
  return plan;
}

Status apply_modules(StepContext& context, const json& observed) {
  if (text_under(observed, "file") != wanted_file(context.desired))
    if (auto status = write_checked(context, drop_in, wanted_file(context.desired)); !status) return status;
  Status first;
  for (const json& value : observed.at("missing")) {
    const std::string module = value.get<std::string>();
    const Status status = run_checked(context, {"modprobe", module});
    if (status) continue;
    const bool unsigned_module = status.error().what.find("Key was rejected") != std::string::npos;
    context.findings.push_back(make_finding(unsigned_module ? "driver.module_unsigned" : "driver.module_load_failed",
                                            {.host = context.desired.node, .module = module}, "module loaded",
                                            status.error().what));
    if (first) first = status;
  }
  return first;
}

Result<json> observe_left_modules(StepContext& context) {
  return observe_own_files(context.host, {drop_in}, {}, "modules that are loaded stay until the next reboot");
}

const Step modules_undo{"modules", observe_left_modules, plan_removal, apply_removal};

}  // namespace

const Step modules_step{"modules", observe_modules, plan_modules, apply_modules, &modules_undo};

}  // namespace fabricgate::bootstrap
