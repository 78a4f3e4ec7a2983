#include "launch/accept/slow_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fabricgate::launch {
namespace {

const Hosts eight{"a", "b", "c", "d", "e", "f", "g", "h"};

bool has(const Hosts& hosts, const std::string& name) {
  return std::count(hosts.begin(), hosts.end(), name) > 0;
}

TEST(SlowGroup, TheHalfWithTheSlowNodeIsFollowed) {
  EXPECT_EQ(slow_group(eight, [](const Hosts& group) { return has(group, "f"); }), (Hosts{"e", "f"}));
  EXPECT_EQ(slow_group({"a", "b", "c", "d", "e"}, [](const Hosts& group) { return has(group, "e"); }),
            (Hosts{"c", "d", "e"}));
}

TEST(SlowGroup, AFaultBetweenTheHalvesEndsTheSearchWhereBothAreIn) {
  const auto slow_together = [](const Hosts& group) { return has(group, "b") && has(group, "c"); };
  EXPECT_EQ(slow_group(eight, slow_together), (Hosts{"a", "b", "c", "d"}));
  EXPECT_EQ(slow_group(eight, [](const Hosts& group) { return has(group, "a") && has(group, "h"); }), eight);
}

TEST(SlowGroup, OfTwoSlowHalvesTheFirstIsFollowedAndBothAreMeasured) {
  std::vector<Hosts> measured;
  const auto slow = [&](const Hosts& group) {
    measured.push_back(group);
    return has(group, "a") || has(group, "h");
  };
  EXPECT_EQ(slow_group(eight, slow), (Hosts{"a", "b"}));
  EXPECT_EQ(measured.size(), 4u);
}

TEST(SlowGroup, TooFewNodesAreNotMeasuredAgain) {
  EXPECT_EQ(slow_group({"a", "b", "c"}, [](const Hosts&) -> bool { throw "measured"; }), (Hosts{"a", "b", "c"}));
}

}  // namespace
}  // namespace fabricgate::launch
