#pragma once
/// What a physical function was told of its VFs, as `ip -j link show dev PF` prints it.
#include <map>
#include <optional>
#include <string>

#include "results/result.hpp"

namespace fabricgate {

/// What `ip` does not print stays unset: the driver does not tell it.
struct VfSettings {
  std::string mac;                   ///< Ethernet
  std::string node_guid, port_guid;  ///< InfiniBand, from Linux 4.20 and iproute2 5.3 on
  std::optional<bool> trust, spoofchk;
  std::optional<int> vlan, max_rate_mbps;
  std::string link_state;  ///< auto, enable, disable
};

/// By the number of the VF. Errors: parse.
Result<std::map<int, VfSettings>> parse_vf_settings(const std::string& text);

}  // namespace fabricgate
