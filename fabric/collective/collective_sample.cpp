#include "fabric/collective/collective_sample.hpp"

#include <fmt/format.h>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

CollectivePoint point_from(const nlohmann::json& value) {
  return {.bytes = count_from(value, "bytes"),
          .algorithm = value.at("algorithm").get<std::string>(),
          .iterations = whole_from<int>(value, "iterations"),
          .elapsed_s = value.at("elapsed_s").get<double>(),
          .busbw_bytes_per_s = value.at("busbw_bytes_per_s").get<double>()};
}

CollectiveTraffic traffic_from(const nlohmann::json& value) {
  return {.host = value.at("host").get<std::string>(),
          .rail = value.at("rail").get<std::string>(),
          .sent_bytes = count_from(value, "sent_bytes"),
          .received_bytes = count_from(value, "received_bytes")};
}

CollectiveSample sample_from(const nlohmann::json& value) {
  CollectiveSample sample;
  sample.hosts = value.at("hosts").get<std::vector<std::string>>();
  sample.ranks = whole_from<int>(value, "ranks");
  sample.engine = value.at("engine").get<std::string>();
  sample.rail = value.at("rail").get<std::string>();
  for (const auto& point : value.at("points")) sample.points.push_back(point_from(point));
  sample.elements_checked = count_from(value, "elements_checked");
  sample.elements_wrong = count_from(value, "elements_wrong");
  sample.first_wrong = value.at("first_wrong").get<std::string>();
  sample.rank_elapsed_s = value.at("rank_elapsed_s").get<std::vector<double>>();
  for (const auto& entry : value.at("moved")) sample.moved.push_back(traffic_from(entry));
  sample.missing = value.at("missing").get<std::vector<std::string>>();
  sample.error = value.at("error").get<std::string>();
  const auto& failed = value.at("failed");
  sample.failed = {.host = failed.at("host").get<std::string>(), .peer = failed.at("peer").get<std::string>(), .rail = failed.at("rail").get<std::string>()};
  return sample;
}

}  // namespace

nlohmann::json to_json_value(const CollectiveSample& sample) {
  nlohmann::json points = nlohmann::json::array();
  for (const auto& point : sample.points) {
    points.push_back({{"bytes", point.bytes},
                      {"algorithm", point.algorithm},
                      {"iterations", point.iterations},
                      {"elapsed_s", point.elapsed_s},
                      {"busbw_bytes_per_s", point.busbw_bytes_per_s}});
  }
  nlohmann::json moved = nlohmann::json::array();
  for (const auto& entry : sample.moved)
    moved.push_back({{"host", entry.host},
                     {"rail", entry.rail},
                     {"sent_bytes", entry.sent_bytes},
                     {"received_bytes", entry.received_bytes}});
  return {{"hosts", sample.hosts},
          {"ranks", sample.ranks},
          {"engine", sample.engine},
          {"rail", sample.rail},
          {"points", points},
          {"elements_checked", sample.elements_checked},
          {"elements_wrong", sample.elements_wrong},
          {"first_wrong", sample.first_wrong},
          {"rank_elapsed_s", sample.rank_elapsed_s},
          {"moved", moved},
          {"missing", sample.missing},
          {"error", sample.error},
          {"failed", {{"host", sample.failed.host}, {"peer", sample.failed.peer}, {"rail", sample.failed.rail}}}};
}

Result<CollectiveSample> collective_sample_from_json(const nlohmann::json& value) {
  try {
    return sample_from(value);
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("collective sample: {}", plain_text(problem))};
  }
}

}  // namespace fabricgate::fabric
