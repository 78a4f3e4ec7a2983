#include "fabric/pairs/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace fabricgate::fabric {
namespace {

std::vector<std::string> two_leaves(int nodes) {
  std::vector<std::string> leaves;
  for (int node = 0; node < nodes; ++node) leaves.push_back(node < nodes / 2 ? "a" : "b");
  return leaves;
}

void expect_disjoint(const PairRound& round, int nodes) {
  std::set<int> seen;
  for (const NodePair& pair : round) {
    EXPECT_LT(pair.a, pair.b);
    EXPECT_GE(pair.a, 0);
    EXPECT_LT(pair.b, nodes);
    EXPECT_TRUE(seen.insert(pair.a).second && seen.insert(pair.b).second) << pair.a << ' ' << pair.b;
  }
}

TEST(Schedule, EveryPairMeetsExactlyOnceInDisjointRounds) {
  for (int nodes = 2; nodes <= 200; ++nodes) {
    const Schedule schedule = full_schedule(nodes);
    ASSERT_EQ(schedule.rounds.size(), static_cast<std::size_t>(nodes % 2 ? nodes : nodes - 1));
    std::set<NodePair> pairs;
    for (const PairRound& round : schedule.rounds) {
      ASSERT_EQ(round.size(), static_cast<std::size_t>(nodes / 2)) << nodes;
      expect_disjoint(round, nodes);
      for (const NodePair& pair : round) ASSERT_TRUE(pairs.insert(pair).second) << nodes;
    }
    ASSERT_EQ(pairs.size(), static_cast<std::size_t>(nodes) * (nodes - 1) / 2);
    ASSERT_TRUE(schedule.coverage.complete());
  }
}

TEST(Schedule, AnOddNumberLeavesEachNodeIdleOnce) {
  for (const int nodes : {3, 5, 31, 101}) {
    std::map<int, int> busy;
    for (const PairRound& round : full_schedule(nodes).rounds) {
      for (const NodePair& pair : round) ++busy[pair.a], ++busy[pair.b];
    }
    for (int node = 0; node < nodes; ++node) EXPECT_EQ(busy[node], nodes - 1);
  }
}

TEST(Schedule, FewerThanTwoNodesGiveNoRounds) {
  for (const int nodes : {-1, 0, 1}) {
    EXPECT_TRUE(full_schedule(nodes).rounds.empty());
    EXPECT_TRUE(limited_schedule(nodes, 5).rounds.empty());
  }
}

TEST(Schedule, ALimitKeepsRoundsDisjointAndCountsWhatItCovers) {
  for (int nodes = 2; nodes <= 60; ++nodes) {
    for (const int limit : {0, 1, 2, 3, 10, 100}) {
      const Schedule schedule = limited_schedule(nodes, limit, two_leaves(nodes));
      const int full = nodes % 2 ? nodes : nodes - 1;
      ASSERT_EQ(schedule.rounds.size(), static_cast<std::size_t>(std::min(limit, full)));
      std::set<NodePair> pairs;
      for (const PairRound& round : schedule.rounds) {
        expect_disjoint(round, nodes);
        pairs.insert(round.begin(), round.end());
      }
      EXPECT_EQ(schedule.coverage.pairs_planned, static_cast<std::int64_t>(pairs.size()));
      EXPECT_EQ(schedule.coverage.complete(), limit >= full) << nodes << ' ' << limit;
    }
  }
}

TEST(Schedule, AFewRoundsReachEveryNodeAndBothSidesOfTheLeaves) {
  for (const int nodes : {6, 7, 8, 16, 33, 64}) {
    const std::vector<std::string> leaves = two_leaves(nodes);
    const Schedule schedule = limited_schedule(nodes, 4, leaves);
    EXPECT_EQ(schedule.coverage.nodes, nodes);
    int across = 0, inside = 0;
    for (const PairRound& round : schedule.rounds) {
      for (const NodePair& pair : round) ++(leaves[pair.a] == leaves[pair.b] ? inside : across);
    }
    EXPECT_GT(across, 0) << nodes;
    EXPECT_GT(inside, 0) << nodes;
    EXPECT_NE(schedule.coverage.text.find("1 of 1 leaf pairs"), std::string::npos) << schedule.coverage.text;
  }
}

TEST(Schedule, ManyLeavesAreAllCrossedWhenTheRoundsSuffice) {
  std::vector<std::string> leaves;
  for (int node = 0; node < 64; ++node) leaves.push_back("leaf" + std::to_string(node / 8));
  const Schedule schedule = limited_schedule(64, 8, leaves);
  EXPECT_NE(schedule.coverage.text.find("28 of 28 leaf pairs"), std::string::npos) << schedule.coverage.text;
}

TEST(Schedule, TheTextSaysWhatIsMissing) {
  const Coverage coverage = limited_schedule(6, 2).coverage;
  EXPECT_EQ(coverage.text, "6 of 15 pairs in 2 rounds, 6 of 6 nodes");
  EXPECT_FALSE(coverage.complete());
}

TEST(Schedule, TimeIsRoundsTimesTheirCost) {
  const RoundCost cost{.measure_s = 1.5, .overhead_s = 0.5};
  EXPECT_DOUBLE_EQ(expected_seconds(full_schedule(8), cost), 14.0);
  EXPECT_EQ(rounds_within(7.9, cost), 3);
  EXPECT_EQ(rounds_within(-1, cost), 0);
  EXPECT_GT(rounds_within(5, {}), 1000);
}

TEST(Schedule, AThousandNodesAreLimitedWithinTheirFullSchedule) {
  std::vector<std::string> leaves;
  for (int node = 0; node < 1000; ++node) leaves.push_back("leaf" + std::to_string(node / 32));
  const Schedule schedule = limited_schedule(1000, 40, leaves);
  EXPECT_EQ(schedule.rounds.size(), 40u);
  EXPECT_EQ(schedule.coverage.nodes, 1000);
}

}  // namespace
}  // namespace fabricgate::fabric
