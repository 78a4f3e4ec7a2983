#include "bootstrap/steps/persistence.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

bool has_yaml(Host& host, const std::string& folder) {
  auto names = host.list(folder);
  return names && std::any_of(names->begin(), names->end(), [](const std::string& name) {
           return name.size() > 5 && name.substr(name.size() - 5) == ".yaml";
         });
}

bool any_exists(Host& host, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return host.exists(path); });
}

/// nmcli prints "100 (connected)", "10 (unmanaged)".
bool managed_by_network_manager(StepContext& context, const std::string& netdev) {
  if (!context.host.exists("/run/NetworkManager")) return false;
  auto state =
      context.host.run({"nmcli", "-g", "GENERAL.STATE", "device", "show", netdev}, context.deadline.at_most(10));
  return state && state->exit_code == 0 && state->out.find("unmanaged") == std::string::npos &&
         !readers::trim(state->out).empty();
}

constexpr double networkd_s = 15;
constexpr int networkd_looks = 10;  // a second

std::string link_file(int index) {
  return "/run/systemd/netif/links/" + std::to_string(index);
}

bool managed_by_networkd(Host& host, int index) {
  auto link = host.read(link_file(index));
  return link && link->find("ADMIN_STATE=unmanaged") == std::string::npos &&
         link->find("ADMIN_STATE=") != std::string::npos;
}

std::string address_of(const DesiredRail& rail) {
  return format_ipv4(rail.address) + "/" + std::to_string(rail.prefix);
}

PersistentFile network_manager_file(const DesiredRail& rail) {
  const bool infiniband = rail.link_layer == LinkLayer::infiniband;
  const std::string type = infiniband ? "infiniband" : "ethernet", id = "fabricgate-" + rail.netdev;
  const std::string path = "/etc/NetworkManager/system-connections/" + id + ".nmconnection";
  std::string content = file_header;
  content += "[connection]\nid=" + id + "\ntype=" + type + "\ninterface-name=" + rail.netdev +
             "\nautoconnect=true\nautoconnect-priority=100\n\n";
  content += "[" + type + "]\nmtu=" + std::to_string(rail.mtu) + "\n\n";
  content +=
      "[ipv4]\nmethod=manual\naddress1=" + address_of(rail) + "\nnever-default=true\n\n[ipv6]\nmethod=link-local\n";
  // NetworkManager ignores connection files that others may read
  return {path, content, 0600, {"nmcli", "connection", "load", path}};
}

PersistentFile networkd_file(const DesiredRail& rail) {
  return {"/etc/systemd/network/10-fabricgate-" + rail.netdev + ".network",
          std::string(file_header) + "[Match]\nName=" + rail.netdev + "\n\n[Link]\nMTUBytes=" +
              std::to_string(rail.mtu) + "\n\n[Network]\nDHCP=no\nAddress=" + address_of(rail) + "\n",
          0644,
          {"networkctl", "reload"},
          rail.netdev};
}

PersistentFile ifupdown_file(const DesiredRail& rail) {
  return {"/etc/network/interfaces.d/fabricgate-" + rail.netdev,
          std::string(file_header) + "auto " + rail.netdev + "\niface " + rail.netdev + " inet static\n  address " +
              address_of(rail) + "\n  mtu " + std::to_string(rail.mtu) + "\n",
          0644,
          {}};
}

std::string netplan_entry(const DesiredRail& rail) {
  return "    " + rail.netdev + ":\n      dhcp4: false\n      dhcp6: false\n      mtu: " + std::to_string(rail.mtu) +
         "\n      addresses: [" + address_of(rail) + "]\n";
}

}  // namespace

void await_networkd(StepContext& context, const PersistentFile& file, int index) {
  const Deadline deadline = context.deadline.at_most(networkd_s);
  for (int settled = 0; settled < networkd_looks && !deadline.passed() && !(context.stop && context.stop());) {
    const auto read = context.host.read(link_file(index));
    const std::string link = read ? *read : "";
    if (link.find("OPER_STATE=no-carrier") != std::string::npos) return;
    const bool done = link.find("ADMIN_STATE=configured") != std::string::npos &&
                      link.find("NETWORK_FILE=" + file.path + "\n") != std::string::npos;
    settled = done ? settled + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::string network_owner(StepContext& context, const std::string& netdev, int index) {
  Host& host = context.host;
  if (any_exists(host, {"/usr/sbin/netplan"}) && has_yaml(host, "/etc/netplan")) return "netplan";
  if (managed_by_network_manager(context, netdev)) return "NetworkManager";
  if (managed_by_networkd(host, index)) return "networkd";
  auto interfaces = host.read("/etc/network/interfaces");  // a drop-in is read only where the file sources its folder
  if (any_exists(host, {"/usr/sbin/ifup", "/sbin/ifup"}) && interfaces &&
      interfaces->find("interfaces.d") != std::string::npos)
    return "ifupdown";
  return "none";
}

std::vector<PersistentFile> persistent_files(const Desired& desired, const std::map<std::string, std::string>& owners) {
  std::vector<PersistentFile> out;
  std::string netplan;
  for (const DesiredRail& rail : desired.rails) {
    const auto owner = owners.find(rail.netdev);
    if (owner == owners.end()) continue;
    if (owner->second == "netplan") netplan += netplan_entry(rail);
    if (owner->second == "NetworkManager") out.push_back(network_manager_file(rail));
    if (owner->second == "networkd") out.push_back(networkd_file(rail));
    if (owner->second == "ifupdown") out.push_back(ifupdown_file(rail));
  }
  // generate writes the back-end's files for the next boot; apply would touch every interface of the node
  if (!netplan.empty())
    out.push_back({"/etc/netplan/90-fabricgate.yaml",
                   std::string(file_header) + "network:\n  version: 2\n  ethernets:\n" + netplan,
                   0600,
                   {"netplan", "generate"}});
  return out;
}

}  // namespace fabricgate::bootstrap
