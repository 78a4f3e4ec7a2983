/// NIC firmware of the rails: SR-IOV on, VFs enough, ports of the declared link layer. What was set counts from the
/// next reset on: until then it is pending, and never set a second time.
#include <algorithm>

#include "bootstrap/steps/all.hpp"
#include "inventory/logs/mlxconfig.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* vendor = "0x15b3";

struct Wanted {
  std::string name;
  long value = 0;
  bool at_least = false;  ///< more will do
  bool optional = false;  ///< adapters of one kind alone do not have it
};

/// Port 1 is function 0.
std::vector<Wanted> wanted_of(const Desired& desired, const DesiredRail& rail, const std::string& pci) {
  std::vector<Wanted> out;
  if (desired.sriov_owner == Owner::host && rail.vfs > 0) out = {{"SRIOV_EN", 1}, {"NUM_OF_VFS", rail.vfs, true}};
  const long layer = rail.link_layer == LinkLayer::infiniband ? 1 : 2;
  out.push_back({"LINK_TYPE_P" + std::string(1, static_cast<char>(pci.back() + 1)), layer, false, true});
  return out;
}

bool satisfied(const Wanted& wanted, const std::string& value) {
  const long number = setting_number(value);
  return wanted.at_least ? number >= wanted.value : number == wanted.value;
}

/// What the running system shows makes a question to the adapter unnecessary.
bool in_effect(Host& host, const Desired& desired, const DesiredRail& rail, const std::string& pci) {
  const auto total = readers::read_number(host, "/sys/bus/pci/devices/" + pci + "/sriov_totalvfs", 0);
  const bool vfs = desired.sriov_owner != Owner::host || total >= rail.vfs;
  const auto type = readers::read_number(host, "/sys/class/net/" + rail.netdev + "/type", -1);
  return vfs && type == (rail.link_layer == LinkLayer::infiniband ? 32 : 1);  // ARPHRD_INFINIBAND, ARPHRD_ETHER
}

/// mstconfig is the distributions' name of it, mlxconfig the vendor's.
json query(StepContext& context, const std::string& pci) {
  json out{{"pci", pci},
           {"tool", ""},
           {"error", "neither mstconfig nor mlxconfig is installed"},
           {"settings", json::object()}};
  for (const char* tool : {"mstconfig", "mlxconfig"}) {
    auto shown = context.host.run({tool, "-d", pci, "-e", "query"}, context.deadline.at_most(60));
    if (!shown && shown.error().kind == ErrorKind::unavailable) continue;
    out["tool"] = tool;
    const auto settings = shown ? parse_mlxconfig(shown->out + "\n" + shown->err) : shown.error();
    if (!settings) return out["error"] = settings.error().what, out;
    out["error"] = "";
    for (const auto& [name, setting] : *settings)
      out["settings"][name] = {{"current", setting.current}, {"next", setting.next}};
    return out;
  }
  return out;
}

Result<json> observe_firmware(StepContext& context) {
  json functions = json::object();
  const Desired& desired = context.desired;
  if (desired.sriov_owner != Owner::host && desired.driver.owner != Owner::host) return functions;
  if (auto names = check_interface_names(desired); !names) return names.error();
  for (const DesiredRail& rail : desired.rails) {
    std::string pci = rail.pci;
    if (const auto path = readers::pci_path(context.host, "/sys/class/net/" + rail.netdev);
        pci.empty() && !path.empty())
      pci = path.back();
    const std::string made_by = readers::read_attribute(context.host, "/sys/bus/pci/devices/" + pci + "/vendor");
    if (pci.empty() || made_by != vendor || in_effect(context.host, desired, rail, pci)) continue;
    functions[rail.name] = query(context, pci);
  }
  return functions;
}

/// What is left to be set, as NAME=VALUE, and what only waits for a reset.
struct Settings {
  std::vector<std::string> to_set;
  std::string pending, missing;
};

Settings settings_of(const std::vector<Wanted>& wanted, const json& seen) {
  Settings out;
  for (const Wanted& each : wanted) {
    if (!seen.at("settings").contains(each.name)) {
      if (!each.optional) out.missing += (out.missing.empty() ? "" : ", ") + each.name;
      continue;
    }
    const std::string now = seen["settings"][each.name]["current"], next = seen["settings"][each.name]["next"];
    if (!satisfied(each, next))
      out.to_set.push_back(each.name + "=" + std::to_string(each.value));
    else if (!satisfied(each, now))
      out.pending += (out.pending.empty() ? "" : ", ") + each.name + " " + now + " now, " + next + " after a reset";
  }
  return out;
}

std::vector<std::string> set_command(const json& seen, const Settings& settings) {
  std::vector<std::string> out{text_under(seen, "tool"), "-y", "-d", text_under(seen, "pci"), "set"};
  out.insert(out.end(), settings.to_set.begin(), settings.to_set.end());
  return out;
}

StepPlan plan_firmware(const Desired& desired, const json& observed) {
  StepPlan plan;
  for (const DesiredRail& rail : desired.rails) {
    if (!observed.contains(rail.name)) continue;
    const json& seen = observed.at(rail.name);
    const std::string pci = text_under(seen, "pci"), error = text_under(seen, "error");
    const Subject subject{.host = desired.node, .netdev = rail.netdev, .pci = pci, .rail = rail.name};
    const Settings settings = settings_of(wanted_of(desired, rail, pci), seen);
    if (!error.empty() || !settings.missing.empty()) {
      plan.findings.push_back(make_finding("firmware.unreadable", subject, "settings of the adapter",
                                           error.empty() ? "it has no " + settings.missing : error));
      continue;
    }
    if (!settings.to_set.empty()) plan.actions.push_back({shell_line(set_command(seen, settings))});
    if (!settings.pending.empty())
      plan.findings.push_back(
          make_finding("firmware.setting_pending", subject, "the settings in effect", settings.pending));
  }
  return plan;
}

Status apply_firmware(StepContext& context, const json& observed) {
  Status first;
  for (const DesiredRail& rail : context.desired.rails) {
    if (!observed.contains(rail.name)) continue;
    const json& seen = observed.at(rail.name);
    const Settings settings = settings_of(wanted_of(context.desired, rail, text_under(seen, "pci")), seen);
    if (settings.to_set.empty() || !settings.missing.empty() || !text_under(seen, "error").empty()) continue;
    if (auto status = run_checked(context, set_command(seen, settings), 120); !status && first) first = status;
  }
  return first;
}

}  // namespace

const Step firmware_step{"firmware", observe_firmware, plan_firmware, apply_firmware};

}  // namespace fabricgate::bootstrap
