#include <algorithm>
#include <cerrno>

#include "bootstrap/steps/all.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

constexpr std::int64_t least_space = 1 << 20;  // a configuration file, its copy while renaming, and the journal

bool plain(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") ==
             std::string::npos;
}

void add_disk_full(StepContext& context, const std::string& path, const std::string& found) {
  context.findings.push_back(
      make_finding("stage.disk_full", {.host = context.desired.node, .file = path}, "at least 1 MiB free", found));
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t kept = 600;
  std::string out = text.size() > kept ? "…" + text.substr(text.size() - kept) : text;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

/// The kernel links every interface to those it is made of: lower_eth0.
void protect_below(Host& host, const std::string& netdev, const std::string& reason,
                   std::map<std::string, std::string>& out) {
  const std::string mark = "lower_";
  auto names = host.list("/sys/class/net/" + netdev);
  if (!names) return;
  for (const std::string& name : *names)
    if (name.rfind(mark, 0) == 0 && out.emplace(name.substr(mark.size()), "is below " + reason).second)
      protect_below(host, name.substr(mark.size()), reason, out);
}

}  // namespace

Action write_action(const std::string& path, const std::string& content, unsigned mode) {
  return {std::string("install -D -m ") + (mode == 0600 ? "0600" : "0644") + " /dev/stdin " + shell_line({path}) +
          " <<'EOF'\n" + content + "EOF"};
}

Status write_checked(StepContext& context, const std::string& path, const std::string& content, unsigned mode) {
  if (auto space = context.host.free_bytes(path); space && *space < least_space) {
    add_disk_full(context, path, std::to_string(*space) + " bytes free");
    return error_from_errno("write " + path, ENOSPC);
  }
  auto status = context.host.write(path, content, mode);
  if (!status && (status.error().native == ENOSPC || status.error().native == EDQUOT))
    add_disk_full(context, path, status.error().what);
  return status;
}

Status run_checked(StepContext& context, const std::vector<std::string>& arguments, double limit_s) {
  auto result = context.host.run(arguments, context.deadline.at_most(limit_s));
  if (!result) return result.error();
  if (result->exit_code == 0) return {};
  const std::string text = result->err.empty() ? result->out : result->err;
  if ((result->err + result->out).find("No space left on device") != std::string::npos)
    add_disk_full(context, "", last_lines(text));
  return Error{ErrorKind::native,
               shell_line(arguments) + ": exit code " + std::to_string(result->exit_code) + ": " + last_lines(text),
               result->exit_code};
}

Status do_all(StepContext& context, const std::vector<Deed>& deeds) {
  for (const Deed& deed : deeds)
    if (auto status = deed.apply(context); !status) return status;
  return {};
}

bool systemd_needs_reload(StepContext& context, const std::string& unit) {
  auto shown =
      context.host.run({"systemctl", "show", "-p", "NeedDaemonReload", "--value", unit}, context.deadline.at_most(10));
  return shown && readers::trim(shown->out) == "yes";
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& word : arguments) {
    if (!out.empty()) out += ' ';
    if (plain(word)) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

bool valid_netdev(const std::string& name) {
  return !name.empty() && name.size() < 16 && name.front() != '-' && name != "." && name != ".." &&
         name.find_first_of("/ \t\n:%'\"") == std::string::npos;
}

Status check_interface_names(const Desired& desired) {
  for (const DesiredRail& rail : desired.rails)
    if (!valid_netdev(rail.netdev))
      return Error{ErrorKind::parse, "rail " + rail.name + ": '" + rail.netdev + "' is not an interface name", 0};
  return {};
}

std::map<std::string, std::string> protected_interfaces(Host& host, const Desired& desired) {
  std::map<std::string, std::string> out;
  if (auto addresses = host.addresses()) {
    for (const InterfaceAddress& a : *addresses) {
      const auto ip = parse_ipv4(a.address);
      if (a.address == desired.management_address ||
          (ip && desired.management.prefix > 0 && desired.management.contains(*ip)))
        out[a.netdev] = "has the management address " + a.address;
    }
  }
  if (auto routes = host.read("/proc/net/route")) {
    for (const std::string& route : readers::parse_routes(*routes)) {
      const auto words = readers::words_of(route);
      const auto dev = std::find(words.begin(), words.end(), "dev");
      if (words.front() == "default" && dev != words.end() && dev + 1 != words.end())
        out[dev[1]] = "carries the default route";
    }
  }
  if (const std::string ssh = readers::read_ssh_interface(host); !ssh.empty()) out[ssh] = "carries this SSH connection";
  for (const auto& [netdev, reason] : std::map(out)) protect_below(host, netdev, netdev + ", which " + reason, out);
  return out;
}

}  // namespace fabricgate::bootstrap
