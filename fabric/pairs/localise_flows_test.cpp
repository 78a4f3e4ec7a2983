/// Connections that are lost and segments that are small: what has them in common, and that no repetition clears it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fabric/pairs/localise_world.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::keys;
using testing::World;

void spoil(Observation& o, const std::function<void(PathResult&)>& edit) {
  for (PathResult& path : o.paths) {
    edit(path);
    if (path.flows_lost > 0 || path.flows_blocked > 0 || path.segment > 0) path.result = PathClass::bad;
  }
}

TEST(LocaliseFlows, ADeadPathOfManyBetweenTwoLeavesIsBetweenThem) {
  World world(6, 1);
  world.leaf = {"a", "a", "a", "b", "b", "b"};
  Observation o = world.observe();
  spoil(o, [](PathResult& path) { path.flows_lost = (path.from < 3) != (path.to < 3) ? 0.06F : 0; });
  EXPECT_THAT(keys(localise(o)), ElementsAre("between TCP connections lost n-1.0.both [0,1,2] [3,4,5]"));
  const Finding finding = findings(localise(o), o)[0];
  EXPECT_EQ(finding.cause, "pair.flows_lost");
  EXPECT_THAT(finding.evidence[0].text, HasSubstr("6.0% of TCP connections never answered"));
}

TEST(LocaliseFlows, ARepetitionAloneThatMetNoneClearsNothing) {
  Observation o = World(4, 1).observe();
  spoil(o, [](PathResult& path) { path.flows_lost = path.from == 2 || path.to == 2 ? 0.02F : 0; });
  for (const int peer : {0, 1, 3})
    for (const auto& [from, to] : {std::pair(2, peer), std::pair(peer, 2)})
      o.paths.push_back({.from = from, .to = to, .result = PathClass::good, .mode = PairMode::alone, .share = 0.97F});
  EXPECT_THAT(keys(localise(o)), ElementsAre("rail TCP connections lost n2.0.both"));
}

TEST(LocaliseFlows, ConnectionsThatCarrySmallPacketsAloneStayBadWhateverRepetitionsGive) {
  Observation o = World(4, 1).observe();
  spoil(o, [](PathResult& path) { path.flows_blocked = path.from == 2 || path.to == 2 ? 0.06F : 0; });
  for (const auto& [from, to] : {std::pair(2, 0), std::pair(0, 2)})
    o.paths.push_back({.from = from, .to = to, .result = PathClass::good, .mode = PairMode::alone, .share = 0.97F});
  EXPECT_THAT(keys(localise(o)), ElementsAre("rail TCP connections without full-size segments n2.0.both"));
  EXPECT_EQ(findings(localise(o), o)[0].cause, "pair.mtu_path");
}

TEST(LocaliseFlows, LateAndSlowConnectionsAreClearedByRepetitions) {
  for (const bool late : {true, false}) {
    Observation o = World(4, 1).observe();
    for (PathResult& path : o.paths) {
      if (path.from != 2 && path.to != 2) continue;
      (late ? path.flows_late : path.flow_slow) = late ? 0.3F : 60;
      path.result = PathClass::bad;
    }
    EXPECT_THAT(keys(localise(o)), ElementsAre(HasSubstr(late ? "rail TCP connections late n2.0" : "rail TCP connections far slower than others n2.0")));
    for (const int peer : {0, 1, 3})
      for (const auto& [from, to] : {std::pair(2, peer), std::pair(peer, 2)})
        o.paths.push_back({.from = from, .to = to, .result = PathClass::good, .mode = PairMode::alone, .share = 0.97F});
    for (const Finding& finding : findings(localise(o), o)) EXPECT_NE(finding.cause, late ? "pair.flows_late" : "pair.flow_slow");
  }
}

TEST(LocaliseFlows, WhoseConnectionsAreNotAnsweredIsTold) {
  for (const bool opens : {false, true}) {
    Observation o = World(4, 1).observe();
    for (PathResult& path : o.paths) {
      path.deaf = (opens ? path.from : path.to) == 2;
      if (path.deaf) path.result = PathClass::unreachable;
    }
    const Finding finding = findings(localise(o), o).at(0);
    EXPECT_EQ(finding.subject.direction, opens ? "tx" : "rx");
    EXPECT_THAT(finding.found, HasSubstr(opens ? "connections it opens are not" : "connections to it are not"));
    EXPECT_THAT(finding.evidence[0].text, HasSubstr("no connection is answered"));
  }
}

TEST(LocaliseFlows, SmallSegmentsOfOneSenderAreItsSendingSide) {
  Observation o = World(4, 2).observe();
  spoil(o, [](PathResult& path) { path.segment = path.from == 1 && path.rail == 1 ? 588 : 0; });
  EXPECT_THAT(keys(localise(o)), ElementsAre("direction small TCP segments n1.1.tx"));
  EXPECT_THAT(findings(localise(o), o)[0].evidence[0].text, HasSubstr("TCP segments of 588 bytes"));
}

}  // namespace
}  // namespace fabricgate::fabric
