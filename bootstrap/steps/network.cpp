/// Rails: up, MTU, address, connected route, live through `ip` and over a reboot through whichever manager owns the
/// interface. The interface we are reached over is never touched.
#include "bootstrap/steps/network.hpp"

#include "bootstrap/steps/persist.hpp"
#include "bootstrap/steps/persistence.hpp"
#include "bootstrap/steps/removal.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using readers::read_attribute;
using readers::read_number;

Result<json> observe_links(StepContext& context) {
  json links = json::object();
  if (auto names = check_interface_names(context.desired); !names) return names.error();
  for (const DesiredRail& rail : context.desired.rails) {
    const std::string folder = "/sys/class/net/" + rail.netdev;
    if (!context.host.exists(folder + "/flags")) continue;
    links[rail.netdev] = {{"up", (read_number(context.host, folder + "/flags", 0) & 1) == 1},
                          {"mtu", read_number(context.host, folder + "/mtu", 0)},
                          {"index", read_number(context.host, folder + "/ifindex", 0)}};
  }
  return links;
}

std::map<std::string, std::string> owners_of(const json& observed) {
  return observed.at("owners").get<std::map<std::string, std::string>>();
}

void observe_persistence(StepContext& context, json& observed) {
  observed["owners"] = json::object();
  for (const auto& [netdev, link] : observed["links"].items())
    if (may_touch(observed, netdev))
      observed["owners"][netdev] = network_owner(context, netdev, link.at("index").get<int>());
  observed["files"] = json::object();
  for (const PersistentFile& file : persistent_files(context.desired, owners_of(observed)))
    if (auto content = context.host.read(file.path)) observed["files"][file.path] = *content;
}

Result<json> observe_network(StepContext& context) {
  if (!context.desired.manage.network) return json::object();
  auto links = observe_links(context);
  if (!links) return links.error();
  auto addresses = context.host.addresses();
  if (!addresses) return addresses.error();
  json observed{{"links", *links}, {"addresses", json::array()}};
  for (const InterfaceAddress& a : *addresses)
    observed["addresses"].push_back({{"netdev", a.netdev}, {"address", a.address}, {"prefix", a.prefix}});
  auto names = context.host.list("/sys/class/net");
  observed["interfaces"] = names ? *names : std::vector<std::string>{};
  auto routes = context.host.read("/proc/net/route");
  observed["routes"] = routes ? readers::parse_routes(*routes) : std::vector<std::string>{};
  observed["kept"] = keeps_over_reboot(context.host, context.desired);
  observed["protected"] = protected_interfaces(context.host, context.desired);
  observe_persistence(context, observed);
  return observed;
}

/// In words only beside other work, so that it never makes a plan out of nothing.
void note_unmanaged(const json& observed, StepPlan& plan) {
  if (observed.at("kept").get<bool>()) return;
  const bool work = !plan.actions.empty();
  for (const auto& [netdev, owner] : owners_of(observed)) {
    if (owner != "none") continue;
    plan.kept = false;
    if (work) plan.actions.push_back({"# " + netdev + ": " + not_kept + ", no network manager owns it"});
  }
}

StepPlan plan_network(const Desired& desired, const json& observed) {
  StepPlan plan;
  if (!desired.manage.network) return plan;
  for (const PersistentFile& file : persistent_files(desired, owners_of(observed))) {
    if (text_under(observed.at("files"), file.path.c_str()) == file.content) continue;
    plan.actions.push_back(write_action(file.path, file.content, file.mode));
    if (!file.reload.empty()) plan.actions.push_back({shell_line(file.reload)});
    if (!file.networkd.empty()) plan.actions.push_back({"# wait until networkd has configured " + file.networkd});
  }
  for (const auto& command : ip_commands(desired, observed, plan.findings))
    plan.actions.push_back({shell_line(command)});
  note_unmanaged(observed, plan);
  return plan;
}

Status apply_network(StepContext& context, const json& observed) {
  std::vector<PersistentFile> told;
  for (PersistentFile& file : persistent_files(context.desired, owners_of(observed))) {
    if (text_under(observed.at("files"), file.path.c_str()) == file.content) continue;
    if (auto status = write_checked(context, file.path, file.content, file.mode); !status) return status;
    if (file.reload.empty()) continue;
    if (auto status = run_checked(context, file.reload); !status) return status;
    if (!file.networkd.empty()) told.push_back(std::move(file));
  }
  for (const PersistentFile& file : told) await_networkd(context, file, observed.at("links").at(file.networkd).at("index").get<int>());
  std::vector<Finding> known;  // said by the plan already
  Status first;
  for (const auto& command : ip_commands(context.desired, observed, known)) {
    const Status status = run_checked(context, command, 10);
    // a secondary address disappears with its primary: gone is what was wanted
    const bool gone = !status && command[2] == "del" &&
                      status.error().what.find("Cannot assign requested address") != std::string::npos;
    if (!status && !gone && first) first = status;
  }
  return first;
}

/// The files of every manager that a rail may have had.
Result<json> observe_left_network(StepContext& context) {
  std::vector<std::string> paths;
  std::vector<CommandLine> then;
  for (const char* owner : {"netplan", "NetworkManager", "networkd", "ifupdown"}) {
    std::map<std::string, std::string> owners;
    for (const DesiredRail& rail : context.desired.rails)
      if (valid_netdev(rail.netdev)) owners[rail.netdev] = owner;
    bool any = false;
    CommandLine reload;
    for (const PersistentFile& file : persistent_files(context.desired, owners)) {
      paths.push_back(file.path);
      any = any || context.host.exists(file.path);
      reload = file.reload;
    }
    // `load` would ask for the file that is gone
    if (any && !reload.empty())
      then.push_back(reload[0] == "nmcli" ? CommandLine{"nmcli", "connection", "reload"} : reload);
  }
  return observe_own_files(context.host, paths, then, "addresses, MTU and routes stay until the next reboot");
}

const Step network_undo{"network", observe_left_network, plan_removal, apply_removal};

}  // namespace

const Step network_step{"network", observe_network, plan_network, apply_network, &network_undo};

}  // namespace fabricgate::bootstrap
