#pragma once
/// One rail interface of one node before and after the fabric was used. Sample of link.rail (start of a run)
/// and of link.counters (its end).
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

/// One leg of a bond.
struct BondMember {
  std::string netdev;
  bool up = false;      ///< MII status of the bonding driver
  bool carries = true;  ///< false: up, but in another LACP aggregator than the one in use
};

struct LinkState {
  bool present = false, admin_up = false, carrier = false;
  std::int64_t speed_mbps = -1;  ///< -1: the driver does not say
  int mtu = 0;
  int index = 0;  ///< of the kernel; an interface made anew has another
  std::vector<std::string> addresses;
  std::string mac;
  std::int64_t carrier_changes = -1;
  std::map<std::string, std::int64_t> counters;
  std::vector<BondMember> bond;  ///< empty: not a bond
  double read_unix_s = 0;
};

struct LinkSample {
  std::string host, rail, netdev;
  LinkState now;
  std::optional<LinkState> before;  ///< state at the start of the run; set for link.counters, absent for link.rail
  std::string error;
};

nlohmann::json to_json_value(const LinkSample& sample);
Result<LinkSample> link_sample_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
