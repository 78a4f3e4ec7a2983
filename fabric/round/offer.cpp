#include "fabric/round/offer.hpp"

#include <nlohmann/json.hpp>

namespace fabricgate::fabric {

std::string pack(const std::vector<Offer>& offers) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& offer : offers) {
    const std::vector<std::uint8_t> bytes(offer.address.begin(), offer.address.end());
    list.push_back(
        {{"address", nlohmann::json::binary(bytes)}, {"error", offer.error}, {"flow_port", offer.flow_port}});
  }
  const auto packed = nlohmann::json::to_cbor(list);
  return std::string(packed.begin(), packed.end());
}

Result<std::vector<Offer>> unpack(const std::string& text, std::size_t expected) {
  const auto list = nlohmann::json::from_cbor(text, true, false);
  if (!list.is_array() || list.size() != expected) return Error{ErrorKind::parse, "offer of the peer: not as expected"};
  std::vector<Offer> offers;
  for (const auto& entry : list) {
    if (!entry.is_object() || !entry.contains("address") || !entry["address"].is_binary() || !entry.contains("error") ||
        !entry["error"].is_string() || !entry.contains("flow_port") || !entry["flow_port"].is_number_integer()) {
      return Error{ErrorKind::parse, "offer of the peer: an entry is not as expected"};
    }
    const auto& bytes = entry["address"].get_binary();
    offers.push_back({.address = std::string(bytes.begin(), bytes.end()),
                      .error = entry["error"].get<std::string>(),
                      .flow_port = entry["flow_port"].get<int>()});
  }
  return offers;
}

}  // namespace fabricgate::fabric
