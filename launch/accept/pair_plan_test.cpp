#include "launch/accept/pair_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// n1 and n2 on leaf a, n3 and n4 on leaf b; n4 has one rail, the others two.
Inventory four_nodes() {
  const auto rail = [](const char* name, int net, const char* leaf) {
    return std::string("      - { name: ") + name + ", netdev: x" + std::to_string(net) +
           ", rate_gbps: 1, mtu: 1500, cidr: 172." + std::to_string(16 + net) + ".0.0/16, leaf: " + leaf + " }\n";
  };
  const std::string head = ":\n    emulated: true\n    gpus: 0\n    slots: 1\n    rails:\n";
  const LoadedInventory loaded = parse_inventory(
      "schema: 1\ncluster: { name: test, management_cidr: 10.20.0.0/16 }\nclasses:\n"
      "  at_a" +
          head + rail("r0", 0, "a") + rail("r1", 1, "a") + "  at_b" + head + rail("r0", 0, "b") + rail("r1", 1, "b") +
          "  narrow" + head + rail("r1", 1, "b") +
          "nodes:\n  - { hosts: \"n[1-2]\", class: at_a, address: 10.20.0.1 }\n"
          "  - { hosts: n3, class: at_b, address: 10.20.0.3 }\n  - { hosts: n4, class: narrow, address: 10.20.0.4 }\n",
      "test");
  EXPECT_TRUE(loaded.inventory) << to_string(loaded.problems.at(0));
  return *loaded.inventory;
}

const std::vector<std::string> all{"n1", "n2", "n3", "n4"};
const PairTiming timing{.seconds = 1, .overlay_seconds = 0.4};

std::vector<std::string> names_of(const std::vector<fabric::RailEnds>& rails) {
  std::vector<std::string> out;
  for (const fabric::RailEnds& rail : rails) out.push_back(rail.name);
  return out;
}

TEST(PairPlan, WithoutABudgetEveryPairMeets) {
  const fabric::Schedule plan = plan_pairs(four_nodes(), all, 0, timing);
  EXPECT_EQ(plan.rounds.size(), 3U);
  EXPECT_TRUE(plan.coverage.complete()) << plan.coverage.text;
}

TEST(PairPlan, ABudgetIsShortOnlyWhereItLeavesPairsOut) {
  const Inventory inventory = four_nodes();
  const double three = pair_tier_seconds(inventory, 4, 0, {});
  EXPECT_EQ(short_budget_s(inventory, 0), 0);
  EXPECT_EQ(short_budget_s(inventory, three), 0);
  EXPECT_EQ(short_budget_s(inventory, three / 3), three / 3);
}

TEST(PairPlan, ABudgetGivesTheRoundsThatFit) {
  const Inventory inventory = four_nodes();
  const double three = pair_tier_seconds(inventory, 4, 0, timing);
  EXPECT_EQ(plan_pairs(inventory, all, three * 2 / 3 + 0.5, timing).rounds.size(), 2U);
  EXPECT_EQ(plan_pairs(inventory, all, three, timing).rounds.size(), 3U);
  EXPECT_EQ(plan_pairs(inventory, all, three * 9, timing).rounds.size(), 3U);
}

TEST(PairPlan, ABudgetTooSmallForARoundGivesOneAllTheSame) {
  const fabric::Schedule plan = plan_pairs(four_nodes(), all, 0.001, timing);
  ASSERT_EQ(plan.rounds.size(), 1U);
  EXPECT_FALSE(plan.coverage.complete());
}

TEST(PairPlan, FewRoundsCrossTheLeavesOfTheInventory) {
  const fabric::Schedule plan = plan_pairs(four_nodes(), all, 0.001, timing);
  ASSERT_EQ(plan.rounds.size(), 1U);
  for (const fabric::NodePair& pair : plan.rounds[0]) EXPECT_TRUE(pair.a < 2 && pair.b >= 2) << pair.a << ' ' << pair.b;
}

TEST(PairPlan, HostsThatAreNotAskedAreInNoRound) {
  const fabric::Schedule plan = plan_pairs(four_nodes(), {"n2", "n4"}, 0, timing);
  EXPECT_THAT(plan.rounds, ElementsAre(fabric::PairRound{{0, 1}}));
}

TEST(PairPlan, ATaskHasTheRailsOfBothEndsWithTheirAddresses) {
  const fabric::PairTask task = pair_task(four_nodes(), "n1", "n3", {});
  EXPECT_EQ(task.a_address, "10.20.0.1");
  EXPECT_EQ(task.b_address, "10.20.0.3");
  ASSERT_THAT(names_of(task.rails), ElementsAre("r0", "r1"));
  EXPECT_EQ(task.rails[1].a_netdev, "x1");
  EXPECT_EQ(task.rails[1].a_address.rfind("172.17.", 0), 0U) << task.rails[1].a_address;
  EXPECT_EQ(task.rails[1].b_address.rfind("172.17.", 0), 0U) << task.rails[1].b_address;
  EXPECT_NE(task.rails[1].a_address, task.rails[1].b_address);
}

TEST(PairPlan, ATaskHasNoRailThatOneEndLacks) {
  EXPECT_THAT(names_of(pair_task(four_nodes(), "n1", "n4", {}).rails), ElementsAre("r1"));
  EXPECT_THAT(names_of(pair_task(four_nodes(), "n4", "n1", {}).rails), ElementsAre("r1"));
}

TEST(PairPlan, ARoundWithRdmaTakesLongerAndKnowsDevicesAndRate) {
  Inventory inventory = four_nodes();
  const double without = pair_tier_seconds(inventory, 4, 0, timing);
  auto spec = std::make_shared<NodeClass>(*inventory.nodes[0].spec);
  spec->rails[1].device = "mlx5_1";
  inventory.nodes[0].spec = inventory.nodes[1].spec = spec;
  EXPECT_GT(pair_tier_seconds(inventory, 4, 0, timing), without);
  const fabric::PairTask task = pair_task(inventory, "n1", "n2", {});
  EXPECT_FALSE(task.rails[0].has_rdma());
  EXPECT_TRUE(task.rails[1].has_rdma());
  EXPECT_EQ(task.rails[1].rate_bytes_per_s, 1e9 / 8);
  EXPECT_FALSE(pair_task(inventory, "n1", "n3", {}).rails[1].has_rdma());
}

TEST(PairPlan, EmulatedRailsHaveFewerRoundTripsOfRdma) {
  Inventory inventory = four_nodes();
  EXPECT_EQ(timing_of(inventory).rdma_round_trips, fabric::least_round_trips);
  for (Node& node : inventory.nodes) {
    auto spec = std::make_shared<NodeClass>(*node.spec);
    spec->emulated = false;
    node.spec = spec;
  }
  EXPECT_EQ(timing_of(inventory).rdma_round_trips, PairTiming{}.rdma_round_trips);
}

TEST(PairPlan, SkippedRailsAreLeftOut) {
  EXPECT_THAT(names_of(pair_task(four_nodes(), "n1", "n3", {"r0"}).rails), ElementsAre("r1"));
  EXPECT_THAT(pair_task(four_nodes(), "n1", "n3", {"r0", "r1"}).rails, IsEmpty());
}

TEST(PairPlan, AKeyIsThatOfTheRecord) {
  EXPECT_EQ(pair_key("pair.rail", "n1", "n3", "r0"), "pair.rail n1,n3 r0");
  EXPECT_EQ(pair_key("pair.overlay", "n1", "n3", ""), "pair.overlay n1,n3");
}

TEST(PairPlan, ExpectedTimeGrowsWithNodesAndTransfers) {
  const Inventory inventory = four_nodes();
  const double two = pair_tier_seconds(inventory, 2, 0, timing), four = pair_tier_seconds(inventory, 4, 0, timing);
  EXPECT_NEAR(four - 1, 3 * (two - 1), 1e-9);  // one round against three
  EXPECT_GE(two, 2 * timing.seconds);          // both directions
  EXPECT_GT(pair_tier_seconds(inventory, 4, 0, {.seconds = 2, .overlay_seconds = 0.4}), four);
}

}  // namespace
}  // namespace fabricgate::launch
