#include "inventory/observe/lldp.hpp"

#include "inventory/observe/parse.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

/// {"type": "ifname", "value": "Ethernet1/1"} → "Ethernet1/1"
std::string id_value(const json& holder) {
  const auto id = holder.find("id");
  return id == holder.end() || !id->is_object() ? "" : id->value("value", "");
}

LldpNeighbour read_neighbour(const std::string& netdev, const json& value) {
  LldpNeighbour out{.netdev = netdev};
  // {"leaf-a": {"id": …}} for a switch that says its name, {"id": …} for one that does not
  const json chassis = value.value("chassis", json::object()).get<json::object_t>();
  if (chassis.contains("id") && chassis["id"].contains("value")) {
    out.chassis_id = id_value(chassis);
  } else if (!chassis.empty() && chassis.begin()->is_object()) {
    out.chassis = chassis.begin().key();
    out.chassis_id = id_value(*chassis.begin());
  }
  out.port = id_value(value.value("port", json::object()));
  return out;
}

void read_interfaces(const json& interfaces, std::vector<LldpNeighbour>& out) {
  if (interfaces.is_array()) {
    for (const json& one : interfaces) read_interfaces(one, out);
    return;
  }
  for (const auto& [netdev, value] : interfaces.items()) out.push_back(read_neighbour(netdev, value));
}

}  // namespace

Result<std::vector<LldpNeighbour>> parse_lldp(const std::string& text) {
  try {
    std::vector<LldpNeighbour> out;
    const json lldp = json::parse(text).at("lldp");
    // without a neighbour there is no "interface", and old versions write an empty list
    if (lldp.is_object() && lldp.contains("interface")) read_interfaces(lldp.at("interface"), out);
    return out;
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("lldpctl -f json: ") + e.what(), e.id};
  }
}

Result<std::vector<LldpNeighbour>> read_lldp(Host& host, Deadline deadline) {
  auto result = host.run({"lldpctl", "-f", "json"}, deadline);
  if (!result) return result.error();
  if (result->exit_code != 0)
    return Error{ErrorKind::unavailable, "lldpctl: " + readers::trim(result->err.empty() ? result->out : result->err),
                 result->exit_code};
  return parse_lldp(result->out);
}

}  // namespace fabricgate
