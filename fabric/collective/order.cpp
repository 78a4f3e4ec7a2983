#include "fabric/collective/order.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

Error bad(const std::string& what) {
  return {ErrorKind::parse, "collective order: " + what};
}

Result<CollectiveOrder> order_from(const nlohmann::json& value) {
  CollectiveOrder order;
  order.ranks = value.at("ranks").get<std::vector<int>>();
  order.hosts = value.at("hosts").get<std::vector<std::string>>();
  for (const auto& rail : value.at("rails")) {
    order.rails.push_back(
        {.name = rail.at("name").get<std::string>(), .netdevs = rail.at("netdevs").get<std::vector<std::string>>(), .weight = rail.value("weight", 1.0)});
  }
  order.steps.clear();
  for (const auto& step : value.at("steps")) {
    auto algorithm = parse_algorithm(step.at("algorithm").get<std::string>());
    if (!algorithm) return algorithm.error();
    order.steps.push_back({.bytes = count_from(step, "bytes"), .algorithm = *algorithm});
  }
  order.iterations = whole_from<int>(value, "iterations");
  order.warmups = whole_from<int>(value, "warmups");
  order.connect_s = value.at("connect_s").get<double>();
  order.stall_s = value.at("stall_s").get<double>();
  order.deadline_s = value.at("deadline_s").get<double>();
  return order;
}

Status check_participants(const CollectiveOrder& order) {
  const auto count = order.ranks.size();
  if (count < 2) return bad(fmt::format("{} ranks: an AllReduce needs two", count));
  if (count > most_collective_ranks) return bad(fmt::format("{} ranks: at most {}", count, most_collective_ranks));
  if (std::set<int>(order.ranks.begin(), order.ranks.end()).size() != count) return bad("a rank is named twice");
  if (order.hosts.size() != count) return bad(fmt::format("{} hosts for {} ranks", order.hosts.size(), count));
  if (order.rails.empty()) return bad("no rail");
  for (const auto& rail : order.rails) {
    if (rail.netdevs.size() != count) {
      return bad(fmt::format("rail {}: {} netdevs for {} ranks", rail.name, rail.netdevs.size(), count));
    }
    if (!(rail.weight > 0 && rail.weight < 1e18)) return bad(fmt::format("rail {}: a weight of {}", rail.name, rail.weight));
  }
  return {};
}

}  // namespace

const char* to_string(Algorithm algorithm) {
  return algorithm == Algorithm::ring ? "ring" : "recursive_doubling";
}

Result<Algorithm> parse_algorithm(std::string_view text) {
  for (const auto algorithm : {Algorithm::ring, Algorithm::recursive_doubling}) {
    if (text == to_string(algorithm)) return algorithm;
  }
  return bad(fmt::format("algorithm '{}': expected ring or recursive_doubling", text));
}

Status check_order(const CollectiveOrder& order) {
  if (auto ok = check_participants(order); !ok) return ok;
  if (order.steps.empty()) return bad("no step");
  for (const auto& step : order.steps) {
    if (step.bytes == 0 || step.bytes % 4 != 0 || step.bytes > (std::uint64_t{1} << 34)) {
      return bad(fmt::format("{} bytes: expected a multiple of 4 up to 16 GiB", step.bytes));
    }
  }
  if (order.iterations < 1 || order.warmups < 0) {
    return bad(fmt::format("{} iterations after {} warm-ups", order.iterations, order.warmups));
  }
  for (const double limit : {order.connect_s, order.stall_s, order.deadline_s}) {
    if (!(limit > 0 && limit < 1e6)) return bad(fmt::format("a limit of {} s: expected more than 0", limit));
  }
  return {};
}

double expected_seconds(const CollectiveOrder& order, double node_bytes_per_s) {
  const double n = static_cast<double>(order.ranks.size());
  double total = 0.3;  // contexts, addresses, first connections
  for (const auto& step : order.steps) {
    const double factor = step.algorithm == Algorithm::ring ? 2 * (n - 1) / n : std::ceil(std::log2(n));
    const double one = factor * static_cast<double>(step.bytes) / node_bytes_per_s + 1e-3;
    total += one * (order.iterations + order.warmups);
  }
  return total;
}

nlohmann::json to_json_value(const CollectiveOrder& order) {
  nlohmann::json rails = nlohmann::json::array(), steps = nlohmann::json::array();
  for (const auto& rail : order.rails) rails.push_back({{"name", rail.name}, {"netdevs", rail.netdevs}, {"weight", rail.weight}});
  for (const auto& step : order.steps) {
    steps.push_back({{"bytes", step.bytes}, {"algorithm", to_string(step.algorithm)}});
  }
  return {{"ranks", order.ranks},
          {"hosts", order.hosts},
          {"rails", rails},
          {"steps", steps},
          {"iterations", order.iterations},
          {"warmups", order.warmups},
          {"connect_s", order.connect_s},
          {"stall_s", order.stall_s},
          {"deadline_s", order.deadline_s}};
}

Result<CollectiveOrder> collective_order_from_json(const nlohmann::json& value) {
  try {
    auto order = order_from(value);
    if (!order) return order.error();
    if (auto ok = check_order(*order); !ok) return ok.error();
    return order;
  } catch (const nlohmann::json::exception& problem) {
    return bad(problem.what());
  }
}

}  // namespace fabricgate::fabric
