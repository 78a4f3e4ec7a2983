#include "launch/accept/place.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

Inventory three_nodes() {
  Inventory inventory;
  for (const char* address : {"10.0.0.1", "10.0.0.2", "10.0.0.3"})
    inventory.nodes.push_back({.name = std::string("n") + address[7], .address = address});
  return inventory;
}

const RunIdentity b{.inventory = "sum", .build = "b"};

std::optional<Arrival> from(const std::string& node, int local_rank = 0, const std::string& build = "b") {
  return Arrival{.node = node, .hostname = "h-" + node, .addresses = {"10.0.0.9"}, .build = build, .local_rank = local_rank};
}

TEST(Place, NodeIsFoundByItsManagementAddress) {
  const auto here = nodes_here(three_nodes(), {*parse_cidr("172.16.0.2/16"), *parse_cidr("10.0.0.2/24")});
  EXPECT_EQ(here, std::vector<std::size_t>{1});
  EXPECT_TRUE(nodes_here(three_nodes(), {*parse_cidr("10.0.0.4/24")}).empty());
}

TEST(Place, LowestLocalRankActsAndTheOthersIdle) {
  EXPECT_EQ(node_of_process({1}, 0), 1U);
  EXPECT_EQ(node_of_process({1}, 1), std::nullopt);
}

TEST(Place, OneMachineMayStandInForSeveralNodes) {
  Inventory inventory = three_nodes();
  for (std::size_t i = 0; i < 3; ++i) inventory.nodes[i].address = "127.0.0." + std::to_string(i + 1);
  const auto here = nodes_here(inventory, {*parse_cidr("127.0.0.1/8")});
  EXPECT_EQ(here.size(), 3U);
  EXPECT_EQ(node_of_process(here, 2), 2U);
}

TEST(Place, ArrivalSurvivesItsText) {
  const auto read = arrival_from_text(to_text(*from("n1", 3)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node, "n1");
  EXPECT_EQ(read->local_rank, 3);
  EXPECT_FALSE(arrival_from_text("{}"));
}

TEST(Roster, EveryExpectedHostOnceIsFine) {
  const auto roster = make_roster({"n1", "n2"}, {from("n2"), from("n1")}, b);
  EXPECT_EQ(roster.host_of_rank, (std::vector<std::string>{"n2", "n1"}));
  EXPECT_TRUE(roster.absent.empty() && roster.doubled.empty() && roster.strangers.empty() && roster.silent.empty());
}

TEST(Roster, SilentRanksLeaveTheirHostAbsent) {
  const auto roster = make_roster({"n1", "n2"}, {from("n1"), std::nullopt}, b);
  EXPECT_EQ(roster.absent, std::vector<std::string>{"n2"});
  EXPECT_EQ(roster.silent, std::vector<int>{1});
}

TEST(Roster, TwoProcessesForOneHostCountOnceAndAreNamed) {
  const auto roster = make_roster({"n1"}, {from("n1"), from("n1")}, b);
  EXPECT_EQ(roster.doubled, std::vector<std::string>{"n1"});
  EXPECT_EQ(roster.host_of_rank, (std::vector<std::string>{"n1", ""}));
}

TEST(Roster, MachineOutsideTheInventoryIsNamedWithItsAddresses) {
  const auto roster = make_roster({"n1"}, {from("n1"), from("")}, b);
  EXPECT_EQ(roster.strangers, std::vector<std::string>{"h- (10.0.0.9)"});
  EXPECT_TRUE(make_roster({"n1"}, {from("n1"), from("", 1)}, b).strangers.empty());
}

TEST(Roster, MachinesWithAnotherInventoryFileAreNamedAndThoseWithoutAFileAreNot) {
  auto same = from("n1"), other = from("n2"), stranger = from(""), idle = from("", 1);
  same->copy = {"/a/inventory.yaml", "sum"};
  other->copy = stranger->copy = idle->copy = {"/b/inventory.yaml", "old"};
  const auto arrived = arrival_from_text(to_text(*other)).value();
  const auto roster = make_roster({"n1", "n2", "n3"}, {same, arrived, from("n3"), stranger, idle}, b);
  EXPECT_EQ(roster.other_copy, (std::vector<std::string>{"n2", "h-"}));
  EXPECT_EQ(roster.other_copy_path, "/b/inventory.yaml");
  EXPECT_EQ(roster.host_of_rank[1], "n2");
}

TEST(Roster, AHostOfAnotherRunIsThereButDoesNotAct) {
  auto taken = from("n2");
  taken->in_use = "fabricgate run r2";
  const auto roster = make_roster({"n1", "n2"}, {from("n1"), arrival_from_text(to_text(*taken)).value()}, b);
  EXPECT_EQ(roster.host_of_rank, (std::vector<std::string>{"n1", ""}));
  EXPECT_EQ(roster.in_use, (std::map<std::string, std::string>{{"n2", "fabricgate run r2"}}));
  EXPECT_TRUE(roster.absent.empty());
}

TEST(Roster, AnotherBinaryDoesNotCount) {
  const auto roster = make_roster({"n1", "n2"}, {from("n1"), from("n2", 0, "old")}, b);
  EXPECT_EQ(roster.other_build, std::vector<std::string>{"n2"});
  EXPECT_EQ(roster.absent, std::vector<std::string>{"n2"});
}

}  // namespace
}  // namespace fabricgate::launch
