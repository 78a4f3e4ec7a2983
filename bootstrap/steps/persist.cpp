/// VFs, and rails that no network manager owns, are gone after a reboot: one systemd unit has the agent apply them
/// again. Written only where there is such a thing, and taken away where there is none any more.
#include "bootstrap/steps/persist.hpp"

#include <algorithm>

#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/persistence.hpp"
#include "bootstrap/steps/virtual_functions.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* unit = "fabricgate-persist.service";
constexpr const char* unit_file = "/etc/systemd/system/fabricgate-persist.service";
constexpr const char* enabled_link = "/etc/systemd/system/multi-user.target.wants/fabricgate-persist.service";

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// As systemd-escape does for the names that interfaces have: '-' stands for '/'.
std::string device_unit(const std::string& netdev) {
  std::string out = "sys-subsystem-net-devices-";
  for (const char c : netdev) out += c == '-' ? std::string("\\x2d") : std::string(1, c);
  return out + ".device";
}

/// At boot nothing yet tells which interface carries the session: what is guarded now is left out for good.
Persisted wanted_of(StepContext& context) {
  const Desired& desired = context.desired;
  const auto guarded = protected_interfaces(context.host, desired);
  Persisted out{.desired = desired};
  for (const DesiredRail& rail : desired.rails) {
    const auto index = readers::read_number(context.host, "/sys/class/net/" + rail.netdev + "/ifindex", -1);
    if (index < 0 || guarded.count(rail.netdev) != 0) continue;
    if (desired.sriov_owner == Owner::host && rail.vfs > 0) out.sriov.push_back(rail.name);
    if (desired.manage.network && network_owner(context, rail.netdev, static_cast<int>(index)) == "none")
      out.network.push_back(rail.name);
  }
  return out;
}

Result<json> observe_persist(StepContext& context) {
  json observed{{"runs", keeps_over_reboot(context.host, context.desired)}};
  if (!observed["runs"].get<bool>()) return observed;
  if (auto names = check_interface_names(context.desired); !names) return names.error();
  const Persisted wanted = wanted_of(context);
  const bool any = !wanted.sriov.empty() || !wanted.network.empty();
  observed["wanted_file"] = any ? to_text(wanted) : "";
  observed["wanted_unit"] = any ? persist_unit(wanted) : "";
  for (const auto& [key, path] : {std::pair("file", persisted_file), std::pair("unit", unit_file)}) {
    auto content = context.host.read(path);
    observed[key] = content ? *content : "";
  }
  observed["enabled"] = context.host.read_link(enabled_link) ? true : false;
  observed["reload"] = any && systemd_needs_reload(context, unit);
  return observed;
}

Deed run(const std::vector<std::string>& arguments) {
  return {{shell_line(arguments)}, [arguments](StepContext& context) { return run_checked(context, arguments); }};
}

Deed unlink_file(const std::string& path) {
  return {{shell_line({"rm", path})}, [path](StepContext& context) { return context.host.remove(path); }};
}

std::vector<Deed> deeds(const json& observed) {
  std::vector<Deed> out;
  if (!observed.at("runs").get<bool>()) return out;
  const std::string file = text_under(observed, "wanted_file"), text = text_under(observed, "wanted_unit");
  const bool other_unit = text_under(observed, "unit") != text, enabled = observed.at("enabled").get<bool>();
  if (file.empty() && enabled) out.push_back(run({"systemctl", "disable", unit}));
  if (file.empty() && other_unit) out.push_back(unlink_file(unit_file));
  if (file.empty() && !text_under(observed, "file").empty()) out.push_back(unlink_file(persisted_file));
  // shown without its content, which is the inventory's own
  if (!file.empty() && text_under(observed, "file") != file)
    out.push_back({{shell_line({"install", "-D", "-m", "0644", "persisted.json", persisted_file})},
                   [file](StepContext& context) { return write_checked(context, persisted_file, file); }});
  if (!file.empty() && other_unit)
    out.push_back({write_action(unit_file, text),
                   [text](StepContext& context) { return write_checked(context, unit_file, text); }});
  if (other_unit || observed.at("reload").get<bool>()) out.push_back(run({"systemctl", "daemon-reload"}));
  if (!file.empty() && !enabled) out.push_back(run({"systemctl", "enable", unit}));
  return out;
}

StepPlan plan_persist(const Desired&, const json& observed) {
  StepPlan plan;
  for (const Deed& deed : deeds(observed)) plan.actions.push_back(deed.action);
  return plan;
}

Status apply_persist(StepContext& context, const json& observed) {
  return do_all(context, deeds(observed));
}

/// Nothing is wanted any more.
Result<json> observe_left_persist(StepContext& context) {
  Desired nothing = context.desired;
  nothing.rails.clear();
  nothing.manage.persist = true;
  StepContext left{.desired = nothing, .host = context.host, .deadline = context.deadline};
  return observe_persist(left);
}

const Step persist_undo{"persist", observe_left_persist, plan_persist, apply_persist};

}  // namespace

std::string to_text(const Persisted& persisted) {
  return json{{"schema", 1},
              {"sriov", persisted.sriov},
              {"network", persisted.network},
              {"desired", fabricgate::to_json_value(persisted.desired)}}
             .dump(1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

Result<Persisted> persisted_from_text(const std::string& text) {
  try {
    const json value = json::parse(text);
    if (whole_from<int>(value, "schema") != 1)
      return Error{ErrorKind::parse, "schema is not 1: stage this node again", 0};
    auto desired = desired_from_json(value.at("desired"));
    if (!desired) return desired.error();
    return Persisted{std::move(*desired), value.at("sriov").get<std::vector<std::string>>(),
                     value.at("network").get<std::vector<std::string>>()};
  } catch (const json::exception& error) {
    return Error{ErrorKind::parse, plain_text(error), error.id};
  }
}

Desired with_rails(Desired desired, const std::vector<std::string>& names) {
  std::erase_if(desired.rails, [&](const DesiredRail& rail) { return !has(names, rail.name); });
  return desired;
}

std::string persist_unit(const Persisted& persisted) {
  std::string devices;
  for (const DesiredRail& rail : persisted.desired.rails)
    if (has(persisted.sriov, rail.name) || has(persisted.network, rail.name)) devices += " " + device_unit(rail.netdev);
  const Desired& desired = persisted.desired;
  return std::string(file_header) +
         "[Unit]\nDescription=Virtual functions and rails of this node as fabricgate staged them\n"
         "DefaultDependencies=no\nRequiresMountsFor=" +
         desired.install_dir + " " + desired.spool_dir + "\n" + "Wants=network-pre.target" + devices +
         "\nAfter=local-fs.target systemd-modules-load.service systemd-udevd.service" + devices +
         "\nBefore=network-pre.target network-online.target shutdown.target\nConflicts=shutdown.target\n\n"
         "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=" +
         desired.install_dir +
         "/bin/fabricgate-agent apply-persisted\nTimeoutStartSec=10min\n\n[Install]\nWantedBy=multi-user.target\n";
}

bool keeps_over_reboot(Host& host, const Desired& desired) {
  return desired.manage.persist && host.exists("/run/systemd/system");
}

const Step persist_step{"persist", observe_persist, plan_persist, apply_persist, &persist_undo};

}  // namespace fabricgate::bootstrap
