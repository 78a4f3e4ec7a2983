#include "fabric/verbs/end_info.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

constexpr std::uint64_t mtus[] = {256, 512, 1024, 2048, 4096};

EndInfo info_from(const nlohmann::json& value) {
  return {.end = verbs_end_from(value.at("end")),
          .lid = whole_from<std::uint16_t>(value, "lid"),
          .rd_atomic = whole_from<std::uint8_t>(value, "rd_atomic"),
          .address = count_from(value, "address"),
          .rkey = whole_from<std::uint32_t>(value, "rkey"),
          .qp_numbers = value.at("qp_numbers").get<std::vector<std::uint32_t>>(),
          .first_psn = whole_from<std::uint32_t>(value, "first_psn"),
          .failure = verbs_failure_from(value.at("failure"))};
}

}  // namespace

Result<EndInfo> end_info_from_text(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  try {
    EndInfo info = info_from(value);
    const bool known = std::find(std::begin(mtus), std::end(mtus), info.end.mtu_bytes) != std::end(mtus);
    if (info.failure.cause.empty() && !known)
      return Error{ErrorKind::parse, fmt::format("the peer's end: no RDMA MTU of {} bytes", info.end.mtu_bytes)};
    return info;
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("the peer's end: {}", plain_text(problem))};
  }
}

std::uint64_t path_mtu(const EndInfo& one, const EndInfo& other) {
  return std::min(one.end.mtu_bytes, other.end.mtu_bytes);
}

std::string to_text(const EndInfo& info) {
  return nlohmann::json{{"end", to_json_value(info.end)},
                        {"lid", info.lid},
                        {"rd_atomic", info.rd_atomic},
                        {"address", info.address},
                        {"rkey", info.rkey},
                        {"qp_numbers", info.qp_numbers},
                        {"first_psn", info.first_psn},
                        {"failure", to_json_value(info.failure)}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace fabricgate::fabric
