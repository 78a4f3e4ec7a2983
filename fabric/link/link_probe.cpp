#include "fabric/link/link_probe.hpp"

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"
#include "results/clock.hpp"

namespace fabricgate::fabric {
namespace {

/// The legs of a bond. A leg that is up in another aggregator than the bond's is plugged into another switch, or its switch
/// port is not in the LAG.
std::vector<BondMember> read_bond(Host& host, const std::string& folder) {
  std::vector<BondMember> out;
  const std::int64_t aggregator = readers::read_number(host, folder + "/bonding/ad_aggregator", -1);
  for (const std::string& name : readers::words_of(readers::read_attribute(host, folder + "/bonding/slaves"))) {
    const std::string leg = "/sys/class/net/" + name + "/bonding_slave";
    BondMember member{.netdev = name, .up = readers::read_attribute(host, leg + "/mii_status") == "up"};
    if (aggregator >= 0) member.carries = readers::read_number(host, leg + "/ad_aggregator_id", aggregator) == aggregator;
    out.push_back(member);
  }
  return out;
}

}  // namespace

LinkState read_link(Host& host, const std::string& netdev, Deadline) {
  LinkState state;
  state.read_unix_s = unix_now_s();
  const std::string folder = "/sys/class/net/" + netdev;
  state.present = !netdev.empty() && host.exists(folder + "/flags");
  if (!state.present) return state;
  state.admin_up = readers::read_number(host, folder + "/flags", 0) & 1;    // IFF_UP; base 16 is read by its prefix
  state.carrier = readers::read_number(host, folder + "/carrier", 0) == 1;  // EINVAL while administratively down
  state.speed_mbps = readers::read_number(host, folder + "/speed", -1);
  if (state.speed_mbps <= 0) state.speed_mbps = -1;
  state.mtu = static_cast<int>(readers::read_number(host, folder + "/mtu", 0));
  state.index = static_cast<int>(readers::read_number(host, folder + "/ifindex", 0));
  state.mac = readers::read_attribute(host, folder + "/address");
  state.carrier_changes = readers::read_number(host, folder + "/carrier_changes", -1);
  state.counters = readers::read_counters(host, folder + "/statistics");
  state.bond = read_bond(host, folder);
  const auto addresses = host.addresses();
  if (!addresses) return state;
  for (const InterfaceAddress& entry : *addresses) {
    const bool ipv4 = entry.address.find(':') == std::string::npos;
    if (ipv4 && entry.netdev == netdev) state.addresses.push_back(entry.address + "/" + std::to_string(entry.prefix));
  }
  return state;
}

}  // namespace fabricgate::fabric
