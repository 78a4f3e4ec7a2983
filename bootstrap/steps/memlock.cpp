/// The locked-memory limit of what a launcher starts. Three places decide it: pam_limits for login sessions, the limit
/// of the sshd service for sessions without PAM and as the ceiling of all, and, until sshd is started again, the live
/// limit of the running sshd processes, which every child inherits. So: a limits.d file, a drop-in of the sshd unit
/// where systemd runs, and prlimit on the sshd processes above us. sshd is never restarted: our own connection hangs on
/// it.
#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/removal.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr const char* limits_file = "/etc/security/limits.d/90-fabricgate.conf";

std::string in_bytes(std::uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes);
}

std::string wanted_limits(std::uint64_t bytes) {
  const std::string kib = bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes / 1024 + (bytes % 1024 != 0));
  // '*' does not cover root
  return std::string(file_header) + "* - memlock " + kib + "\nroot - memlock " + kib + "\n";
}

std::string wanted_unit(std::uint64_t bytes) {
  return std::string(file_header) +
         "[Service]\nLimitMEMLOCK=" + (bytes == UINT64_MAX ? "infinity" : std::to_string(bytes)) + "\n";
}

std::string unit_file(const std::string& unit) {
  return "/etc/systemd/system/" + unit + ".d/90-fabricgate-memlock.conf";
}

/// ssh.service on Debian, sshd.service elsewhere; empty without systemd.
std::string ssh_unit(Host& host) {
  if (!host.exists("/run/systemd/system")) return "";
  for (const char* unit : {"ssh.service", "sshd.service"})
    for (const char* folder : {"/etc/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"})
      if (host.exists(std::string(folder) + unit)) return unit;
  return "";
}

json limits_of(Host& host, const std::string& process) {
  const auto limits = readers::parse_memlock(readers::read_attribute(host, "/proc/" + process + "/limits"));
  if (!limits) return json();
  return {{"soft", limits->soft}, {"hard", limits->hard}};
}

/// The sshd processes above this one, nearest first: those of the connection, then the listener.
json ssh_servers(Host& host) {
  json out = json::array();
  int pid = readers::parse_parent(readers::read_attribute(host, "/proc/self/stat"));
  for (int depth = 0; depth < 16 && pid > 0; ++depth) {
    const std::string process = std::to_string(pid);
    const std::string name = readers::read_attribute(host, "/proc/" + process + "/comm");
    if (name == "sshd" || name.rfind("sshd-", 0) == 0)
      out.push_back({{"pid", pid}, {"name", name}, {"limits", limits_of(host, process)}});
    pid = readers::parse_parent(readers::read_attribute(host, "/proc/" + process + "/stat"));
  }
  return out;
}

Result<json> observe_memlock(StepContext& context) {
  if (!context.desired.memlock_bytes || !context.desired.manage.memlock) return json::object();
  Host& host = context.host;
  const std::string unit = ssh_unit(host);
  auto limits = host.read(limits_file);
  auto drop_in = unit.empty() ? Result<std::string>(std::string()) : host.read(unit_file(unit));
  return json{{"own", limits_of(host, "self")},       {"servers", ssh_servers(host)},
              {"limits_file", limits ? *limits : ""}, {"unit", unit},
              {"unit_file", drop_in ? *drop_in : ""}, {"reload", !unit.empty() && systemd_needs_reload(context, unit)}};
}

bool enough(const json& limits, std::uint64_t wanted) {
  return limits.is_object() && limits.at("soft").get<std::uint64_t>() >= wanted &&
         limits.at("hard").get<std::uint64_t>() >= wanted;
}

std::string shown(const json& limits) {
  return limits.is_object() ? in_bytes(limits.at("soft").get<std::uint64_t>()) + " (hard " +
                                  in_bytes(limits.at("hard").get<std::uint64_t>()) + ")"
                            : "unreadable";
}

StepPlan plan_memlock(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (!desired.memlock_bytes || !desired.manage.memlock) return plan;
  const std::uint64_t wanted = *desired.memlock_bytes;
  const std::string unit = text_under(observed, "unit");
  if (text_under(observed, "limits_file") != wanted_limits(wanted))
    plan.actions.push_back(write_action(limits_file, wanted_limits(wanted)));
  const bool unit_changes = !unit.empty() && text_under(observed, "unit_file") != wanted_unit(wanted);
  if (unit_changes) plan.actions.push_back(write_action(unit_file(unit), wanted_unit(wanted)));
  if (unit_changes || observed.at("reload").get<bool>()) plan.actions.push_back({"systemctl daemon-reload"});
  bool live = false;
  for (const json& server : observed.at("servers")) {
    if (enough(server.at("limits"), wanted)) continue;
    live = true;
    plan.actions.push_back({"prlimit --pid " + std::to_string(server.at("pid").get<int>()) +
                            " --memlock=" + in_bytes(wanted) + ":" + in_bytes(wanted)});
  }
  // sshd hands on enough and still we have less: something between sshd and us lowers it, which no file of ours can
  // mend
  if (!live && !observed.at("servers").empty() && plan.actions.empty() && !enough(observed.at("own"), wanted))
    plan.findings.push_back(make_finding(
        "rdma.memlock_limit", {.host = desired.node}, "memlock " + in_bytes(wanted) + " in launched processes",
        shown(observed.at("own")) +
            " although sshd has enough: look for ulimit in shell start-up files and limits.conf"));
  return plan;
}

Status apply_memlock(StepContext& context, const json& observed) {
  const std::uint64_t wanted = *context.desired.memlock_bytes;
  const std::string unit = text_under(observed, "unit");
  if (text_under(observed, "limits_file") != wanted_limits(wanted))
    if (auto status = write_checked(context, limits_file, wanted_limits(wanted)); !status) return status;
  const bool unit_changes = !unit.empty() && text_under(observed, "unit_file") != wanted_unit(wanted);
  if (unit_changes)
    if (auto status = write_checked(context, unit_file(unit), wanted_unit(wanted)); !status) return status;
  if (unit_changes || observed.at("reload").get<bool>())
    if (auto status = run_checked(context, {"systemctl", "daemon-reload"}); !status) return status;
  for (const json& server : observed.at("servers")) {
    if (enough(server.at("limits"), wanted)) continue;
    if (auto status = context.host.set_memlock(server.at("pid").get<int>(), wanted); !status) return status;
  }
  return {};
}

Result<json> observe_left_memlock(StepContext& context) {
  const std::string unit = ssh_unit(context.host);
  std::vector<std::string> files{limits_file};
  if (!unit.empty()) files.push_back(unit_file(unit));
  const std::vector<CommandLine> then =
      unit.empty() ? std::vector<CommandLine>{} : std::vector<CommandLine>{{"systemctl", "daemon-reload"}};
  return observe_own_files(context.host, files, then, "the limit of running processes stays until they end");
}

const Step memlock_undo{"memlock", observe_left_memlock, plan_removal, apply_removal};

}  // namespace

const Step memlock_step{"memlock", observe_memlock, plan_memlock, apply_memlock, &memlock_undo};

}  // namespace fabricgate::bootstrap
