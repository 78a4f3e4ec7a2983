#pragma once
/// Who is at the other end of each cable, as the switch says of itself over LLDP. Needs lldpd on the node.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inventory/host/host.hpp"

namespace fabricgate {

struct LldpNeighbour {
  std::string netdev;      ///< interface of this machine
  std::string chassis;     ///< name of the switch, may be empty
  std::string chassis_id;  ///< its MAC or other id
  std::string port;        ///< id of the switch port
};

/// `lldpctl -f json`, one or many interfaces, several neighbours on one. Errors: parse.
Result<std::vector<LldpNeighbour>> parse_lldp(const std::string& text);

/// Errors: unavailable (no lldpctl, or lldpd does not answer: says which), timeout, parse.
Result<std::vector<LldpNeighbour>> read_lldp(Host& host, Deadline deadline);

}  // namespace fabricgate
