#include "launch/accept/pair_plan.hpp"

#include <algorithm>

#include "inventory/desired/desired.hpp"

namespace fabricgate::launch {
namespace {

/// Order and answers of a round over the management network, the processes' turn on the processor, and the frames counted
/// before it (0.1 s).
constexpr double round_overhead_s = 0.45;

bool any_rdma(const Inventory& inventory) {
  return std::any_of(inventory.nodes.begin(), inventory.nodes.end(), [](const Node& node) {
    const auto& rails = node.spec->rails;
    return std::any_of(rails.begin(), rails.end(), [](const Rail& rail) { return !rail.device.empty(); });
  });
}

fabric::RoundCost cost_of(const Inventory& inventory, const PairTiming& timing) {
  fabric::RailEnds rail;
  if (any_rdma(inventory)) rail.a_device = rail.b_device = "declared";
  fabric::RoundOrder order;
  order.seconds = timing.seconds;
  order.both_seconds = timing.both_seconds;
  order.overlay_seconds = timing.overlay_seconds;
  order.tasks.push_back({.a_rank = 0, .b_rank = 1, .a = "a", .b = "b", .rails = {rail}, .overlay = true});
  return {.measure_s = fabric::expected_seconds(order), .overhead_s = round_overhead_s};
}

std::vector<std::string> leaves_of(const Inventory& inventory, const std::vector<std::string>& hosts) {
  std::vector<std::string> leaves;
  bool any = false;
  for (const std::string& host : hosts) {
    const auto index = inventory.find(host);
    const auto& rails = inventory.nodes[*index].spec->rails;
    leaves.push_back(rails.empty() ? "" : rails[0].leaf);
    any = any || !leaves.back().empty();
  }
  return any ? leaves : std::vector<std::string>{};
}

}  // namespace

PairTiming timing_of(const Inventory& inventory) {
  PairTiming timing;
  if (inventory.emulated()) timing.rdma_round_trips = fabric::least_round_trips;
  return timing;
}

fabric::Schedule plan_pairs(const Inventory& inventory, const std::vector<std::string>& hosts, double budget_s,
                            const PairTiming& timing) {
  const auto leaves = leaves_of(inventory, hosts);
  const int count = static_cast<int>(hosts.size());
  if (budget_s <= 0) return fabric::full_schedule(count, leaves);
  return fabric::limited_schedule(count, std::max(1, fabric::rounds_within(budget_s, cost_of(inventory, timing))), leaves);
}

double short_budget_s(const Inventory& inventory, double budget_s) {
  if (budget_s <= 0) return 0;
  std::vector<std::string> hosts;
  for (const Node& node : inventory.nodes) hosts.push_back(node.name);
  return plan_pairs(inventory, hosts, budget_s, {}).coverage.complete() ? 0 : budget_s;
}

fabric::PairTask pair_task(const Inventory& inventory, const std::string& a, const std::string& b, const std::set<std::string>& skip) {
  const Desired of_a = desired(inventory, *inventory.find(a)), of_b = desired(inventory, *inventory.find(b));
  fabric::PairTask task{.a = a, .b = b, .a_address = of_a.management_address, .b_address = of_b.management_address};
  for (const DesiredRail& at_a : of_a.rails) {
    if (skip.count(at_a.name)) continue;
    const auto at_b = std::find_if(of_b.rails.begin(), of_b.rails.end(), [&](const DesiredRail& rail) { return rail.name == at_a.name; });
    if (at_b == of_b.rails.end()) continue;
    task.rails.push_back({.name = at_a.name,
                          .a_netdev = at_a.netdev,
                          .a_address = format_ipv4(at_a.address),
                          .b_netdev = at_b->netdev,
                          .b_address = format_ipv4(at_b->address),
                          .a_device = at_a.device,
                          .b_device = at_b->device,
                          .rate_bytes_per_s = std::min(at_a.rate_bits_per_s, at_b->rate_bits_per_s) / 8});
  }
  return task;
}

std::string pair_key(const std::string& check, const std::string& a, const std::string& b, const std::string& rail) {
  Record record;
  record.check = check;
  record.hosts = {a, b};
  record.rail = rail;
  return subject_key(record);
}

double pair_tier_seconds(const Inventory& inventory, std::size_t hosts, double budget_s, const PairTiming& timing) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < hosts && i < inventory.nodes.size(); ++i) names.push_back(inventory.nodes[i].name);
  return fabric::expected_seconds(plan_pairs(inventory, names, budget_s, timing), cost_of(inventory, timing)) + 1;
}

}  // namespace fabricgate::launch
