#include "fabric/pairs/retest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/pairs/localise_world.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using testing::World;

std::vector<Retest> flat(const RetestPlan& plan) {
  std::vector<Retest> out;
  for (const RetestRound& round : plan.rounds) out.insert(out.end(), round.begin(), round.end());
  return out;
}

void expect_disjoint_and_fresh(const RetestPlan& plan) {
  std::set<std::tuple<int, int, int>> all;
  for (const RetestRound& round : plan.rounds) {
    std::set<int> busy;
    for (const Retest& test : round) {
      EXPECT_LT(test.a, test.b);
      EXPECT_TRUE(busy.insert(test.a).second && busy.insert(test.b).second);
      EXPECT_TRUE(all.insert({test.a, test.b, test.rail}).second) << "planned twice";
    }
  }
}

TEST(Retest, AHealthyFabricNeedsNone) {
  EXPECT_THAT(plan_retests(World(5, 2).observe()).rounds, IsEmpty());
}

TEST(Retest, ASlowPairIsTriedAloneAndBothEndsWithGoodPartners) {
  World world(5, 2);
  world.slow_path(0, 1, 1, 0.5F);
  const RetestPlan plan = plan_retests(world.observe());
  expect_disjoint_and_fresh(plan);
  EXPECT_THAT(flat(plan), Contains(Retest{0, 1, 1, PairMode::alone}));
  int with_first = 0, with_second = 0;
  for (const Retest& test : flat(plan)) {
    EXPECT_EQ(test.rail, 1);
    if (test.mode != PairMode::partner) continue;
    EXPECT_GE(test.b, 2) << "a suspect is no good partner";
    ++(test.a == 0 ? with_first : with_second);
  }
  EXPECT_EQ(with_first, 2);
  EXPECT_EQ(with_second, 2);
}

TEST(Retest, ADeadRailAmongManyCostsAFewMeasurements) {
  World world(64, 1);
  world.net(9, 0) = -1;
  const RetestPlan plan = plan_retests(world.observe());
  expect_disjoint_and_fresh(plan);
  EXPECT_EQ(flat(plan).size(), 3u);  // three bad pairs alone; no other node is suspect, none is good with node 9
  for (const Retest& test : flat(plan)) EXPECT_TRUE(test.a == 9 || test.b == 9);
}

TEST(Retest, TheBoundOnRoundsIsKeptAndWhatIsLeftOutIsCounted) {
  World world(6, 3);
  world.slow({2, -1}, 0.5F);
  const RetestPlan plan = plan_retests(world.observe(), {.max_rounds = 2});
  expect_disjoint_and_fresh(plan);
  EXPECT_EQ(plan.rounds.size(), 2u);
  EXPECT_EQ(flat(plan).size() + static_cast<std::size_t>(plan.left_out), 9u);
}

TEST(Retest, SuspectsThatShareNoNodeRunAtTheSameTime) {
  World world(8, 1);
  world.slow_path(0, 1, 0, 0.5F);
  world.slow_path(2, 3, 0, 0.5F);
  const RetestPlan plan = plan_retests(world.observe());
  ASSERT_FALSE(plan.rounds.empty());
  EXPECT_THAT(plan.rounds[0], Contains(Retest{0, 1, 0, PairMode::alone}));
  EXPECT_THAT(plan.rounds[0], Contains(Retest{2, 3, 0, PairMode::alone}));
}

TEST(Retest, WhatWasTriedAloneIsNotPlannedAgain) {
  World world(4, 1);
  world.slow_path(0, 1, 0, 0.5F);
  for (const Retest& test : flat(plan_retests(world.observe()))) {
    PathResult result = world.path(test.a, test.b, test.rail);
    result.mode = test.mode;
    world.extra.push_back(result);
    std::swap(result.from, result.to);
    result.result = PathClass::good;
    world.extra.push_back(result);
  }
  EXPECT_THAT(plan_retests(world.observe()).rounds, IsEmpty());
}

TEST(Retest, WhatWasBadAloneOnceIsRepeatedUntilThreeAreGoodOrASecondIsBad) {
  World world(4, 2);
  const auto alone = [&](float share) {
    for (const auto& [from, to] : {std::pair{1, 2}, std::pair{2, 1}}) {
      PathResult result = world.path(from, to, 1);
      result.mode = PairMode::alone;
      if (from == 1) result.share = share, result.result = share >= 0.8F ? PathClass::good : PathClass::bad;
      world.extra.push_back(result);
    }
    return flat(plan_retests(world.observe()));
  };
  const std::vector<Retest> once_more{{1, 2, 1, PairMode::alone}};
  EXPECT_EQ(alone(0.7F), once_more);
  EXPECT_EQ(alone(0.97F), once_more);
  EXPECT_EQ(alone(0.97F), once_more);
  World settled = world;
  EXPECT_THAT(alone(0.97F), IsEmpty());
  world = settled;
  EXPECT_THAT(alone(0.7F), IsEmpty());
}

TEST(Retest, WhatIsSlowWithOthersAndGoodAloneIsTriedWithOthersOnceMore) {
  World world(4, 2);
  EXPECT_THAT(plan_loaded(world.observe()), IsEmpty());
  world.slow_path(2, 1, 1, 0.6F);
  EXPECT_THAT(plan_loaded(world.observe()), IsEmpty()) << "alone first";
  PathResult again = world.path(2, 1, 1);
  world.extra.push_back({.from = 2, .to = 1, .rail = 1, .result = PathClass::good, .mode = PairMode::alone, .share = 0.96F});
  EXPECT_THAT(plan_loaded(world.observe()), ::testing::ElementsAre(NodePair{1, 2}));
  world.extra.push_back(again);
  EXPECT_THAT(plan_loaded(world.observe()), IsEmpty());
}

/// The loop of a run: first pass, plan, repeat, blame.
TEST(Retest, AfterTheRepetitionsNoiseIsContentionAndTheFaultIsNamed) {
  World world(5, 2);
  world.slow({3, 0}, 0.5F);
  Observation observation = world.observe();
  for (PathResult& path : observation.paths) {
    if (path.from == 0 && path.to == 1 && path.rail == 1) path.result = PathClass::bad;  // noise
  }
  for (const Retest& test : flat(plan_retests(observation))) {
    for (const auto& [from, to] : {std::pair{test.a, test.b}, std::pair{test.b, test.a}}) {
      PathResult result = world.path(from, to, test.rail);
      result.mode = test.mode;
      observation.paths.push_back(result);
    }
  }
  EXPECT_THAT(
      testing::keys(localise(observation)),
      ::testing::ElementsAre("pair slow with others running, good alone n0.1.tx n1.1.both", "rail slow n3.0.both"));
}

}  // namespace
}  // namespace fabricgate::fabric
