#include <algorithm>

#include "bootstrap/steps/network.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using Commands = std::vector<std::vector<std::string>>;

struct Seen {
  std::string netdev;
  std::uint32_t address = 0;
  int prefix = 32;
};

std::vector<Seen> addresses_of(const json& observed) {
  std::vector<Seen> out;
  for (const json& entry : observed.at("addresses"))
    if (auto ip = parse_ipv4(entry.at("address").get<std::string>()))
      out.push_back({entry.at("netdev").get<std::string>(), *ip, entry.at("prefix").get<int>()});
  return out;
}

std::string text(std::uint32_t ip, int prefix) {
  return format_ipv4(ip) + "/" + std::to_string(prefix);
}

bool is_rail(const Desired& desired, const std::string& netdev) {
  return std::any_of(desired.rails.begin(), desired.rails.end(),
                     [&](const DesiredRail& rail) { return rail.netdev == netdev; });
}

/// The same address anywhere else, this address with another prefix, and any other address of the rail's pool on a rail
/// (a rail that took over its neighbour's address, a leftover of an earlier plan of addresses).
bool is_stray(const Desired& desired, const DesiredRail& rail, const Seen& seen) {
  const bool here = seen.netdev == rail.netdev;
  if (seen.address == rail.address) return !here || seen.prefix != rail.prefix;
  if (!Cidr{rail.address, rail.prefix}.contains(seen.address) || !is_rail(desired, seen.netdev)) return false;
  // rails may share one pool: what another rail wants where it is, is no stray
  return std::none_of(desired.rails.begin(), desired.rails.end(), [&](const DesiredRail& other) {
    return other.netdev == seen.netdev && other.address == seen.address && other.prefix == seen.prefix;
  });
}

/// Removes strays; true when one was on the rail itself, which can take the wanted address (its secondary) with it.
bool remove_strays(const Desired& desired, const DesiredRail& rail, const json& observed, Commands& out,
                   std::vector<Finding>& findings) {
  bool here = false;
  for (const Seen& seen : addresses_of(observed)) {
    if (!is_stray(desired, rail, seen)) continue;
    if (!observed.at("protected").contains(seen.netdev)) {
      const std::vector<std::string> command{"ip", "addr", "del", text(seen.address, seen.prefix), "dev", seen.netdev};
      if (std::find(out.begin(), out.end(), command) == out.end()) out.push_back(command);
      here = here || seen.netdev == rail.netdev;
      continue;
    }
    findings.push_back(
        make_finding("stage.own_interface", {.host = desired.node, .netdev = seen.netdev, .rail = rail.name},
                     "address " + format_ipv4(rail.address) + " on " + rail.netdev + " alone",
                     "also on " + seen.netdev + ", which " + observed["protected"][seen.netdev].get<std::string>()));
  }
  return here;
}

bool has_route(const json& observed, const DesiredRail& rail) {
  const Cidr net{rail.address & Cidr{rail.address, rail.prefix}.mask(), rail.prefix};
  const std::string start = format_cidr(net) + " dev " + rail.netdev;
  const auto& routes = observed.at("routes");
  return std::any_of(routes.begin(), routes.end(), [&](const json& route) {
    const std::string line = route.get<std::string>() + " ";
    return line.rfind(start + " ", 0) == 0;
  });
}

void set_rail(const Desired& desired, const DesiredRail& rail, const json& observed, Commands& out,
              std::vector<Finding>& findings) {
  const json& link = observed.at("links").at(rail.netdev);
  const auto seen = addresses_of(observed);
  const bool present = std::any_of(seen.begin(), seen.end(), [&](const Seen& s) {
    return s.netdev == rail.netdev && s.address == rail.address && s.prefix == rail.prefix;
  });
  const bool up = link.at("up").get<bool>(), changed = remove_strays(desired, rail, observed, out, findings);
  if (rail.mtu > 0 && link.at("mtu").get<int>() != rail.mtu)
    out.push_back({"ip", "link", "set", "dev", rail.netdev, "mtu", std::to_string(rail.mtu)});
  if (!up) out.push_back({"ip", "link", "set", "dev", rail.netdev, "up"});
  if (changed || !present)
    out.push_back({"ip", "addr", "replace", text(rail.address, rail.prefix), "dev", rail.netdev});
  if (!changed && present && up && rail.prefix < 32 && !has_route(observed, rail)) {
    const std::uint32_t net = rail.address & Cidr{rail.address, rail.prefix}.mask();
    out.push_back({"ip", "route", "replace", text(net, rail.prefix), "dev", rail.netdev, "proto", "kernel", "scope",
                   "link", "src", format_ipv4(rail.address)});
  }
}

}  // namespace

bool may_touch(const json& observed, const std::string& netdev) {
  return observed.at("links").contains(netdev) && !observed.at("protected").contains(netdev);
}

Commands ip_commands(const Desired& desired, const json& observed, std::vector<Finding>& findings) {
  Commands out;
  for (const DesiredRail& rail : desired.rails) {
    const Subject subject{.host = desired.node, .netdev = rail.netdev, .pci = rail.pci, .rail = rail.name};
    if (!observed.at("links").contains(rail.netdev)) {
      std::string names;
      for (const json& name : observed.at("interfaces")) names += (names.empty() ? "" : ", ") + name.get<std::string>();
      findings.push_back(make_finding("link.absent", subject, "interface " + rail.netdev, "no " + rail.netdev + ", only " + names));
    } else if (observed.at("protected").contains(rail.netdev)) {
      findings.push_back(make_finding("stage.own_interface", subject, "a rail apart from management",
                                      rail.netdev + " " + observed["protected"][rail.netdev].get<std::string>()));
    } else {
      set_rail(desired, rail, observed, out, findings);
    }
  }
  return out;
}

}  // namespace fabricgate::bootstrap
