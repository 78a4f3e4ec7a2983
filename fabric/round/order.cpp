#include "fabric/round/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fabric/tcp/burst.hpp"
#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

constexpr double share_small = 0.05;    // of a direction's time, for each size but the last
constexpr double share_warmup = 0.4;    // the warm-up never eats more of the last size's time
constexpr double setup_s = 0.1;         // contexts, addresses, first connection: seen 0.02 to 0.1 s
constexpr double flows_s = 0.05;        // many connections at once: seen 0.01 to 0.05 s
constexpr double latency_share = 0.05;  // ping-pong, of `seconds`
constexpr double rdma_setup_s = 0.25;   // opening, contact, swaps by way of the other thread, and latency
constexpr double turn_around_s = 0.02;  // agreement and draining per size and direction
constexpr std::uint64_t smallest = 64, largest = 64u << 20;
constexpr std::uint64_t most_flows = 256;  // sockets: twice as many per rail are open at once

nlohmann::json rail_to_json(const RailEnds& rail) {
  return {{"name", rail.name},
          {"a_netdev", rail.a_netdev},
          {"a_address", rail.a_address},
          {"b_netdev", rail.b_netdev},
          {"b_address", rail.b_address},
          {"a_device", rail.a_device},
          {"b_device", rail.b_device},
          {"rate_bytes_per_s", rail.rate_bytes_per_s}};
}

nlohmann::json task_to_json(const PairTask& task) {
  nlohmann::json rails = nlohmann::json::array();
  for (const auto& rail : task.rails) rails.push_back(rail_to_json(rail));
  return {{"a_rank", task.a_rank},
          {"b_rank", task.b_rank},
          {"a", task.a},
          {"b", task.b},
          {"rails", rails},
          {"overlay", task.overlay},
          {"a_address", task.a_address},
          {"b_address", task.b_address},
          {"mode", to_string(task.mode)},
          {"b_first", task.b_first}};
}

PairTask task_from(const nlohmann::json& value, PairMode mode) {
  PairTask task;
  task.a_rank = whole_from<int>(value, "a_rank");
  task.b_rank = whole_from<int>(value, "b_rank");
  task.a = value.at("a").get<std::string>();
  task.b = value.at("b").get<std::string>();
  for (const auto& rail : value.at("rails")) {
    task.rails.push_back({.name = rail.at("name").get<std::string>(),
                          .a_netdev = rail.at("a_netdev").get<std::string>(),
                          .a_address = rail.at("a_address").get<std::string>(),
                          .b_netdev = rail.at("b_netdev").get<std::string>(),
                          .b_address = rail.at("b_address").get<std::string>(),
                          .a_device = rail.at("a_device").get<std::string>(),
                          .b_device = rail.at("b_device").get<std::string>(),
                          .rate_bytes_per_s = rail.at("rate_bytes_per_s").get<double>()});
  }
  task.overlay = value.at("overlay").get<bool>();
  task.a_address = value.at("a_address").get<std::string>();
  task.b_address = value.at("b_address").get<std::string>();
  task.mode = mode;
  task.b_first = value.at("b_first").get<bool>();
  return task;
}

Result<RoundOrder> order_from(const nlohmann::json& value) {
  RoundOrder order;
  for (const auto& task : value.at("tasks")) {
    auto mode = parse_pair_mode(task.at("mode").get<std::string>());
    if (!mode) return mode.error();
    order.tasks.push_back(task_from(task, *mode));
  }
  order.sizes = value.at("sizes").get<std::vector<std::uint64_t>>();
  order.flows = count_from(value, "flows");
  order.seconds = value.at("seconds").get<double>();
  order.both_seconds = value.at("both_seconds").get<double>();
  order.rdma_seconds = value.at("rdma_seconds").get<double>();
  order.rdma_round_trips = count_from(value, "rdma_round_trips");
  order.overlay_seconds = value.at("overlay_seconds").get<double>();
  order.warmup_s = value.at("warmup_s").get<double>();
  order.connect_s = value.at("connect_s").get<double>();
  order.stall_s = value.at("stall_s").get<double>();
  order.deadline_s = value.at("deadline_s").get<double>();
  return order;
}

Error bad(const std::string& what) {
  return {ErrorKind::parse, "round order: " + what};
}

Status check_task(const PairTask& task) {
  const auto pair = fmt::format("pair {} and {}", task.a, task.b);
  if (task.a_rank < 0 || task.b_rank < 0) return bad(fmt::format("{}: a rank is negative", pair));
  if (task.a_rank == task.b_rank) return bad(fmt::format("{}: both are rank {}", pair, task.a_rank));
  if (task.rails.empty() && !task.overlay) return bad(fmt::format("{}: neither a rail nor the overlay", pair));
  for (const auto& rail : task.rails)
    if (rail.has_rdma() && !(rail.rate_bytes_per_s > 0 && rail.rate_bytes_per_s < 1e15))
      return bad(fmt::format("{}: rate_bytes_per_s of {} is {}", pair, rail.name, rail.rate_bytes_per_s));
  if (task.overlay && (task.a_address.empty() || task.b_address.empty())) {
    return bad(fmt::format("{}: overlay without both management addresses", pair));
  }
  return {};
}

double side_seconds(const RoundOrder& order, double seconds) {
  const double turns = turn_around_s * static_cast<double>(order.sizes.size());
  return setup_s + latency_share * seconds + 2 * (seconds + turns);
}

/// What passes before a window is timed: the first window of each size, both ways, and the bursts of the short connections.
/// On a slow rail that is longer than the window. 0 where no rate is declared.
double untimed_s(const RoundOrder& order, const PairTask& task) {
  std::uint64_t bytes = order.flows * 2 * burst_bytes;
  for (const std::uint64_t size : order.sizes) bytes += 2 * stream_window(size) * size;
  double longest = 0;
  for (const RailEnds& rail : task.rails)
    if (rail.rate_bytes_per_s > 0) longest = std::max(longest, static_cast<double>(bytes) / rail.rate_bytes_per_s);
  return longest;
}

/// Rails run at once.
double rdma_cost_s(const RoundOrder& order, const PairTask& task) {
  const auto has_rdma = [](const RailEnds& rail) { return rail.has_rdma(); };
  if (std::none_of(task.rails.begin(), task.rails.end(), has_rdma)) return 0;
  return rdma_setup_s + 2 * (order.rdma_seconds + 2 * rdma_margin_s);
}

}  // namespace

std::string rdma_skipped(const PairTask& task, const RailEnds& rail) {
  if (rail.has_rdma()) return "";
  const bool neither = rail.a_device.empty() && rail.b_device.empty();
  return neither ? fmt::format("{} and {} declare no RDMA device for it", task.a, task.b)
                 : fmt::format("{} declares no RDMA device for it", rail.a_device.empty() ? task.a : task.b);
}

std::vector<StreamPlan> stream_plans(const RoundOrder& order, double seconds) {
  std::vector<StreamPlan> plans;
  for (const auto bytes : order.sizes) {
    const bool last = plans.size() + 1 == order.sizes.size();
    const double rest = seconds * (1 - share_small * static_cast<double>(plans.size()));
    const double total = last ? std::max(rest, seconds / 2) : seconds * share_small;
    const double warmup = last ? std::min(order.warmup_s, total * share_warmup) : total * 0.2;
    plans.push_back({.bytes = bytes, .warmup_s = warmup, .measure_s = total - warmup});
  }
  return plans;
}

double expected_seconds(const RoundOrder& order) {
  std::map<int, double> by_rank;  // a rank runs its tasks one after the other
  for (const auto& task : order.tasks) {
    const double both = order.both_seconds > 0 ? order.both_seconds + turn_around_s : 0;
    const double flows = order.flows > 0 ? flows_s : 0;
    const double cost = (task.rails.empty() ? 0 : flows + side_seconds(order, order.seconds) + both + untimed_s(order, task)) +
                        rdma_cost_s(order, task) +
                        (task.overlay ? side_seconds(order, order.overlay_seconds) : 0);
    const double end = std::max(by_rank[task.a_rank], by_rank[task.b_rank]) + cost;
    by_rank[task.a_rank] = by_rank[task.b_rank] = end;
  }
  double longest = 0;
  for (const auto& [rank, end] : by_rank) longest = std::max(longest, end);
  return longest;
}

Status check_order(const RoundOrder& order) {
  if (order.sizes.empty()) return bad("no message size");
  for (const auto bytes : order.sizes) {
    if (bytes < smallest || bytes > largest || bytes % 8 != 0) {
      return bad(fmt::format("message size {}: expected a multiple of 8 from {} to {}", bytes, smallest, largest));
    }
  }
  if (!std::is_sorted(order.sizes.begin(), order.sizes.end())) return bad("message sizes are not ascending");
  if (order.flows > most_flows) return bad(fmt::format("flows is {}: expected at most {}", order.flows, most_flows));
  const std::pair<const char*, double> times[] = {{"seconds", order.seconds},
                                                  {"rdma_seconds", order.rdma_seconds},
                                                  {"overlay_seconds", order.overlay_seconds},
                                                  {"connect_s", order.connect_s},
                                                  {"stall_s", order.stall_s},
                                                  {"deadline_s", order.deadline_s}};
  for (const auto& [name, value] : times) {
    if (!(value > 0 && value < 1e6)) return bad(fmt::format("{} is {}: expected more than 0", name, value));
  }
  if (order.rdma_round_trips < least_round_trips || order.rdma_round_trips > most_round_trips)
    return bad(fmt::format("rdma_round_trips is {}: expected {} to {}", order.rdma_round_trips, least_round_trips,
                           most_round_trips));
  if (!(order.both_seconds >= 0 && order.both_seconds < 1e6))
    return bad(fmt::format("both_seconds is {}: expected 0 or more", order.both_seconds));
  if (!(order.warmup_s >= 0)) return bad(fmt::format("warmup_s is {}: expected 0 or more", order.warmup_s));
  for (const auto& task : order.tasks) {
    if (auto ok = check_task(task); !ok) return ok;
  }
  return {};
}

nlohmann::json to_json_value(const RoundOrder& order) {
  nlohmann::json tasks = nlohmann::json::array();
  for (const auto& task : order.tasks) tasks.push_back(task_to_json(task));
  return {{"tasks", tasks},
          {"sizes", order.sizes},
          {"flows", order.flows},
          {"seconds", order.seconds},
          {"both_seconds", order.both_seconds},
          {"rdma_seconds", order.rdma_seconds},
          {"rdma_round_trips", order.rdma_round_trips},
          {"overlay_seconds", order.overlay_seconds},
          {"warmup_s", order.warmup_s},
          {"connect_s", order.connect_s},
          {"stall_s", order.stall_s},
          {"deadline_s", order.deadline_s}};
}

Result<RoundOrder> round_order_from_json(const nlohmann::json& value) {
  try {
    auto order = order_from(value);
    if (!order) return order.error().with("round order");
    if (auto ok = check_order(*order); !ok) return ok.error();
    return order;
  } catch (const nlohmann::json::exception& problem) {
    return bad(problem.what());
  }
}

}  // namespace fabricgate::fabric
