#include "inventory/logs/ip_link.hpp"

#include <nlohmann/json.hpp>

#include "results/json_text.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

std::optional<bool> switch_under(const json& vf, const char* key) {
  const auto found = vf.find(key);
  return found != vf.end() && found->is_boolean() ? std::optional<bool>(found->get<bool>()) : std::nullopt;
}

/// "vlan_list": [{"vlan": 100}], [{}] for none; "vlan": 100 from kernels before 4.9.
int vlan_of(const json& vf) {
  if (vf.contains("vlan_list") && !vf["vlan_list"].empty()) return vf["vlan_list"].front().value("vlan", 0);
  return vf.value("vlan", 0);
}

int max_rate_of(const json& vf) {
  return vf.contains("rate") ? vf["rate"].value("max_tx", 0) : vf.value("tx_rate", 0);
}

VfSettings read_settings(const json& vf) {
  VfSettings out;
  // "mac" until iproute2 5.3; InfiniBand has its 20-byte address there
  out.mac = vf.value("address", vf.value("mac", ""));
  out.node_guid = vf.value("node guid", "");
  out.port_guid = vf.value("port guid", "");
  out.trust = switch_under(vf, "trust");
  out.spoofchk = switch_under(vf, "spoofchk");
  out.vlan = vlan_of(vf);
  out.max_rate_mbps = max_rate_of(vf);
  out.link_state = vf.value("link_state", "");
  return out;
}

}  // namespace

Result<std::map<int, VfSettings>> parse_vf_settings(const std::string& text) {
  std::map<int, VfSettings> out;
  try {
    for (const json& link : json::parse(text))
      if (link.contains("vfinfo_list"))
        for (const json& vf : link["vfinfo_list"]) out[whole_from<int>(vf, "vf")] = read_settings(vf);
  } catch (const json::exception& error) {
    return Error{ErrorKind::parse, "ip -j link show: " + plain_text(error), error.id};
  }
  return out;
}

}  // namespace fabricgate
