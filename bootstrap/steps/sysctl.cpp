/// Kernel settings: one drop-in read at boot, and the live value. A key of an interface that does not exist is left to
/// the network step, which names the interface; the drop-in carries it for the day it appears.
#include <algorithm>

#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/removal.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* drop_in = "/etc/sysctl.d/90-fabricgate.conf";

/// Values compare by words: the kernel separates with tabs what people separate with blanks.
std::string folded(const std::string& text) {
  std::string out;
  for (const std::string& word : readers::words_of(text)) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool valid_key(const std::string& key) {
  if (key.empty() || key.front() == '.' || key.front() == '/' || key.find("..") != std::string::npos ||
      key.find("//") != std::string::npos)
    return false;
  return key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@:") ==
         std::string::npos;
}

/// Keys of an interface that must not be touched were not observed and are left alone.
std::string wanted_file(const Desired& desired, const json& observed) {
  std::string out = file_header;
  for (const auto& [key, value] : desired.sysctl)
    if (observed.at("values").contains(key)) out += key + " = " + folded(value) + "\n";
  return out;
}

bool of_interface(const std::string& key, std::string name) {
  for (char& c : name) c = c == '.' ? '/' : c;
  return key.rfind("net.ipv4.conf." + name + ".", 0) == 0 || key.rfind("net.ipv6.conf." + name + ".", 0) == 0;
}

bool of_rail(const Desired& desired, const std::string& key) {
  return std::any_of(desired.rails.begin(), desired.rails.end(),
                     [&](const DesiredRail& rail) { return of_interface(key, rail.netdev); });
}

Result<json> observe_sysctl(StepContext& context) {
  json values = json::object();
  const auto held = protected_interfaces(context.host, context.desired);
  for (const auto& [key, value] : context.desired.sysctl) {
    if (!valid_key(key)) return Error{ErrorKind::parse, "sysctl key '" + key + "' is not of the form a.b.c", 0};
    const std::string& name = key;
    if (std::any_of(held.begin(), held.end(), [&](const auto& entry) { return of_interface(name, entry.first); }))
      continue;
    auto now = context.host.read(readers::sysctl_path(key));
    values[key] = now ? json(folded(*now)) : json();
  }
  auto file = context.host.read(drop_in);
  return json{{"values", values}, {"file", file ? *file : ""}};
}

StepPlan plan_sysctl(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (!desired.manage.sysctl || desired.sysctl.empty()) return plan;
  if (text_under(observed, "file") != wanted_file(desired, observed))
    plan.actions.push_back(write_action(drop_in, wanted_file(desired, observed)));
  for (const auto& [key, value] : desired.sysctl) {
    if (!observed.at("values").contains(key)) continue;
    const json& now = observed.at("values").at(key);
    if (now.is_null()) {
      if (!of_rail(desired, key))
        plan.findings.push_back(make_finding("host.sysctl_missing",
                                             {.host = desired.node, .file = readers::sysctl_path(key)},
                                             key + " = " + value, "no such key"));
    } else if (now.get<std::string>() != folded(value)) {
      plan.actions.push_back({shell_line({"sysctl", "-w", key + "=" + folded(value)})});
    }
  }
  return plan;
}

Status apply_sysctl(StepContext& context, const json& observed) {
  const Desired& desired = context.desired;
  if (text_under(observed, "file") != wanted_file(desired, observed))
    if (auto status = write_checked(context, drop_in, wanted_file(desired, observed)); !status) return status;
  for (const auto& [key, value] : desired.sysctl) {
    if (!observed.at("values").contains(key)) continue;
    const json& now = observed.at("values").at(key);
    if (now.is_null() || now.get<std::string>() == folded(value)) continue;
    if (auto status = context.host.write_in_place(readers::sysctl_path(key), folded(value) + "\n"); !status)
      return status.error().with("sysctl " + key);
  }
  return {};
}

Result<json> observe_left_sysctl(StepContext& context) {
  return observe_own_files(context.host, {drop_in}, {}, "values that are set stay until the next reboot");
}

const Step sysctl_undo{"sysctl", observe_left_sysctl, plan_removal, apply_removal};

}  // namespace

const Step sysctl_step{"sysctl", observe_sysctl, plan_sysctl, apply_sysctl, &sysctl_undo};

}  // namespace fabricgate::bootstrap
