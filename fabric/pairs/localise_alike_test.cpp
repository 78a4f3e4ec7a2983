/// A rail whose measured paths are all bad: is it a node, or what all share?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/pairs/localise_world.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using testing::keys;
using ::testing::Not;
using ::testing::StartsWith;
using testing::World;

Observation measured(const std::vector<std::pair<int, int>>& pairs, const std::vector<float>& shares) {
  Observation o = World(5, 1).observe();
  o.paths.clear();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const auto& [from, to] : {pairs[i], std::pair(pairs[i].second, pairs[i].first)})
      o.paths.push_back({.from = from, .to = to, .rail = 0, .result = PathClass::bad, .share = shares[i]});
  return o;
}

TEST(LocaliseAlike, ARailThatIsEquallySlowEverywhereBlamesNoNodeHoweverFewPairsWereMeasured) {
  for (const std::vector<std::pair<int, int>>& pairs : {std::vector<std::pair<int, int>>{{0, 1}, {2, 3}},
                                                        {{0, 1}, {0, 2}, {2, 3}},
                                                        {{0, 1}, {0, 2}, {1, 2}},
                                                        {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}}) {
    const Observation o = measured(pairs, {0.098F, 0.096F, 0.099F, 0.097F, 0.098F});
    EXPECT_THAT(keys(localise(o)), ElementsAre(StartsWith("fabric slow"))) << pairs.size();
    const Finding finding = findings(localise(o), o)[0];
    EXPECT_EQ(finding.cause, "pair.fabric_slow");
    EXPECT_EQ(finding.subject, (Subject{.rail = "rail0"}));
  }
}

TEST(LocaliseAlike, ANodeInAllSlowPairsOrSharesThatDifferAreNotTakenForTheWholeRail) {
  EXPECT_THAT(keys(localise(measured({{0, 1}, {0, 2}, {0, 3}}, {0.5F, 0.5F, 0.5F}))),
              ElementsAre(StartsWith("rail slow n0")));
  for (const std::string& key : keys(localise(measured({{0, 1}, {2, 3}}, {0.5F, 0.1F}))))
    EXPECT_THAT(key, Not(StartsWith("fabric")));
}

TEST(LocaliseAlike, AShareJustBelowTheLimitIsToldFromIt) {
  Observation o = measured({{0, 1}, {0, 2}, {1, 2}}, {0.98762F, 0.98762F, 0.98762F});
  o.share_floor = 0.99;
  const Finding finding = findings(localise(o), o)[0];
  EXPECT_THAT(finding.expected, ::testing::HasSubstr("at least 99.0% of"));
  EXPECT_THAT(finding.found, ::testing::HasSubstr("median 98.8%"));
}

TEST(LocaliseAlike, ANodeThatAnswersNoEchoThoughDataPassesIsNotCalledUnreachable) {
  World world(4, 2);
  Observation observation = world.observe();
  for (ReachFact& fact : observation.reach)
    fact.dead = fact.from_rail == fact.to_rail && fact.to_rail == 0 && (fact.to == 2 || fact.from == 2);
  EXPECT_THAT(testing::keys(localise(observation)), ElementsAre("rail no echo is answered, data passes n2.0.both"));
  for (PathResult& path : observation.paths)
    if (path.rail == 0 && (path.from == 2 || path.to == 2)) path.result = PathClass::unreachable;
  EXPECT_THAT(testing::keys(localise(observation)), ElementsAre("rail unreachable n2.0.both"));
}

}  // namespace
}  // namespace fabricgate::fabric
