#include "fabric/collective/order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

CollectiveOrder three_ranks() {
  CollectiveOrder order;
  order.ranks = {0, 2, 3};
  order.hosts = {"n0", "n2", "n3"};
  order.rails = {{.name = "r0", .netdevs = {"x", "y", "z"}}};
  return order;
}

TEST(CollectiveOrder, SurvivesTheWayThroughJson) {
  const auto json = to_json_value(three_ranks());
  auto again = collective_order_from_json(json);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_EQ(again->rails.at(0).netdevs.at(2), "z");
  EXPECT_EQ(again->steps.at(0).algorithm, Algorithm::recursive_doubling);
}

TEST(CollectiveOrder, EveryMissingKeyIsAnErrorThatNamesIt) {
  const auto json = to_json_value(three_ranks());
  for (const auto& [key, value] : json.items()) {
    auto without = json;
    without.erase(key);
    auto parsed = collective_order_from_json(without);
    ASSERT_FALSE(parsed) << key;
    EXPECT_THAT(parsed.error().what, HasSubstr(key));
  }
}

TEST(CollectiveOrder, ImpossibleValuesAreRefused) {
  struct Case {
    std::function<void(CollectiveOrder&)> spoil;
    const char* says;
  };
  const Case cases[] = {
      {[](CollectiveOrder& o) { o.ranks = {0}; }, "needs two"},
      {[](CollectiveOrder& o) {
         o.ranks = {0, 0, 1};
       },
       "named twice"},
      {[](CollectiveOrder& o) { o.hosts.pop_back(); }, "2 hosts for 3 ranks"},
      {[](CollectiveOrder& o) { o.rails.clear(); }, "no rail"},
      {[](CollectiveOrder& o) { o.rails[0].netdevs.pop_back(); }, "rail r0: 2 netdevs"},
      {[](CollectiveOrder& o) { o.steps.clear(); }, "no step"},
      {[](CollectiveOrder& o) { o.steps[0].bytes = 6; }, "6 bytes"},
      {[](CollectiveOrder& o) { o.iterations = 0; }, "0 iterations"},
      {[](CollectiveOrder& o) { o.stall_s = 0; }, "limit of 0 s"},
  };
  for (const auto& one : cases) {
    auto order = three_ranks();
    ASSERT_TRUE(check_order(order));
    one.spoil(order);
    auto checked = check_order(order);
    ASSERT_FALSE(checked) << one.says;
    EXPECT_THAT(checked.error().what, HasSubstr(one.says));
  }
}

TEST(CollectiveOrder, ItsExpectedTimeFollowsFromBytesAndRate) {
  auto order = three_ranks();
  order.steps = {{3000000, Algorithm::ring}};
  order.iterations = 10, order.warmups = 0;
  // 2·2/3 × 3 MB at 100 MB/s = 40 ms, ten times
  EXPECT_NEAR(expected_seconds(order, 100e6), 0.3 + 10 * 0.041, 1e-9);
}

}  // namespace
}  // namespace fabricgate::fabric
