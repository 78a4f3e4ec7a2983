#include "fabric/link/rdma_sample.hpp"

#include "results/json_text.hpp"

namespace fabricgate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LldpNeighbour, netdev, chassis, chassis_id, port)

namespace fabric {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CablingSample, host, rail, netdev, unreadable, neighbours)

json to_json_value(const RdmaSample& sample) {
  json out = {{"host", sample.host},
              {"rail", sample.rail},
              {"device", sample.device},
              {"now", fabricgate::to_json_value(sample.now)}};
  if (sample.before) out["before"] = fabricgate::to_json_value(*sample.before);
  return out;
}

json to_json_value(const CablingSample& sample) {
  return sample;
}

Result<RdmaSample> rdma_sample_from_json(const json& value) {
  try {
    RdmaSample sample;
    sample.host = value.at("host").get<std::string>();
    sample.rail = value.at("rail").get<std::string>();
    sample.device = value.at("device").get<std::string>();
    auto now = rdma_state_from_json(value.at("now"));
    if (!now) return now.error();
    sample.now = std::move(*now);
    if (!value.contains("before")) return sample;
    auto before = rdma_state_from_json(value.at("before"));
    if (!before) return before.error();
    sample.before = std::move(*before);
    return sample;
  } catch (const json::exception& error) {
    return Error{ErrorKind::parse, "RDMA sample: " + plain_text(error), 0};
  }
}

Result<CablingSample> cabling_sample_from_json(const json& value) {
  try {
    return value.get<CablingSample>();
  } catch (const json::exception& error) {
    return Error{ErrorKind::parse, "cabling sample: " + plain_text(error), 0};
  }
}

}  // namespace fabric
}  // namespace fabricgate
