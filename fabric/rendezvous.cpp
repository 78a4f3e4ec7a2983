#include "fabric/rendezvous.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fabricgate::fabric {
namespace {

std::string list_of(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
  return text;
}

nlohmann::json binary_safe(const std::string& text) {
  return nlohmann::json::binary(std::vector<std::uint8_t>(text.begin(), text.end()));
}

/// CBOR, because a text may hold any bytes: {"missing": [rank…]} or {"texts": [binary…]}.
std::string pack(const std::vector<std::optional<std::string>>& entries) {
  nlohmann::json packed = {{"texts", nlohmann::json::array()}, {"missing", nlohmann::json::array()}};
  for (std::size_t rank = 0; rank < entries.size(); ++rank) {
    if (entries[rank]) {
      packed["texts"].push_back(binary_safe(*entries[rank]));
    } else {
      packed["missing"].push_back(rank);
    }
  }
  const auto bytes = nlohmann::json::to_cbor(packed);
  return std::string(bytes.begin(), bytes.end());
}

Result<std::vector<std::string>> unpack(const std::string& text) {
  const auto packed = nlohmann::json::from_cbor(text, true, false);
  if (!packed.is_object() || !packed.contains("missing") || !packed.contains("texts")) {
    return Error{ErrorKind::parse, "all_gather: rank 0 sent something that is not a list of texts"};
  }
  std::vector<int> missing;
  for (const auto& rank : packed["missing"]) {
    if (rank.is_number_integer()) missing.push_back(rank.get<int>());
  }
  if (!missing.empty()) {
    return Error{ErrorKind::timeout, fmt::format("all_gather: rank {} did not arrive in time", list_of(missing))};
  }
  std::vector<std::string> texts;
  for (const auto& entry : packed["texts"]) {
    if (!entry.is_binary()) return Error{ErrorKind::parse, "all_gather: rank 0 sent an entry that is not binary"};
    texts.emplace_back(entry.get_binary().begin(), entry.get_binary().end());
  }
  return texts;
}

}  // namespace

Result<std::vector<std::string>> all_gather(Rendezvous& rendezvous, const std::string& mine, Deadline deadline) {
  // Rank 0 needs time left to say who is missing, so the gathering ends a little before the others give up.
  const auto gather_deadline = rendezvous.rank() == 0 ? deadline.at_most(deadline.left_s() * 0.8) : deadline;
  auto gathered = rendezvous.gather(mine, gather_deadline);
  if (!gathered) return gathered.error().with("all_gather");
  auto all = rendezvous.broadcast(rendezvous.rank() == 0 ? pack(*gathered) : std::string(), deadline);
  if (!all) return all.error().with("all_gather");
  return unpack(*all);
}

}  // namespace fabricgate::fabric
