#include "fabric/link/link_sample.hpp"

#include <fmt/format.h>

#include "results/json_text.hpp"

namespace fabricgate::fabric {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BondMember, netdev, up, carries)

namespace {

using nlohmann::json;

json state_json(const LinkState& state) {
  return {{"present", state.present},   {"admin_up", state.admin_up},
          {"carrier", state.carrier},   {"speed_mbps", state.speed_mbps},
          {"mtu", state.mtu},           {"index", state.index},
          {"addresses", state.addresses},
          {"mac", state.mac},           {"carrier_changes", state.carrier_changes},
          {"counters", state.counters}, {"bond", state.bond},
          {"read_unix_s", state.read_unix_s}};
}

LinkState state_from(const json& value) {
  LinkState state;
  state.present = value.at("present").get<bool>();
  state.admin_up = value.at("admin_up").get<bool>();
  state.carrier = value.at("carrier").get<bool>();
  state.speed_mbps = whole_from<std::int64_t>(value, "speed_mbps");
  state.mtu = whole_from<int>(value, "mtu");
  state.index = whole_from<int>(value, "index");
  state.addresses = value.at("addresses").get<std::vector<std::string>>();
  state.mac = value.at("mac").get<std::string>();
  state.carrier_changes = whole_from<std::int64_t>(value, "carrier_changes");
  const nlohmann::json& counters = value.at("counters");
  if (!counters.is_object()) throw nlohmann::json::type_error::create(302, "counters: no object", &value);
  for (const auto& counter : counters.items()) state.counters[counter.key()] = whole_from<std::int64_t>(counters, counter.key().c_str());
  state.bond = value.at("bond").get<std::vector<BondMember>>();
  state.read_unix_s = value.at("read_unix_s").get<double>();
  return state;
}

}  // namespace

json to_json_value(const LinkSample& sample) {
  json out = {{"host", sample.host},
              {"rail", sample.rail},
              {"netdev", sample.netdev},
              {"now", state_json(sample.now)},
              {"error", sample.error}};
  if (sample.before) out["before"] = state_json(*sample.before);
  return out;
}

Result<LinkSample> link_sample_from_json(const json& value) {
  try {
    LinkSample sample;
    sample.host = value.at("host").get<std::string>();
    sample.rail = value.at("rail").get<std::string>();
    sample.netdev = value.at("netdev").get<std::string>();
    sample.now = state_from(value.at("now"));
    sample.error = value.at("error").get<std::string>();
    if (value.contains("before")) sample.before = state_from(value.at("before"));
    return sample;
  } catch (const json::exception& error) {
    return Error{ErrorKind::parse, fmt::format("link sample: {}", plain_text(error)), 0};
  }
}

}  // namespace fabricgate::fabric
