#include "fabric/round/order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

PairTask task(int a, int b) {
  return {
      .a_rank = a,
      .b_rank = b,
      .a = "n" + std::to_string(a),
      .b = "n" + std::to_string(b),
      .rails = {{.name = "r0", .a_netdev = "x0", .a_address = "10.0.0.1", .b_netdev = "y0", .b_address = "10.0.0.2"}},
      .overlay = true,
      .a_address = "10.9.0.1",
      .b_address = "10.9.0.2",
      .mode = PairMode::partner,
      .b_first = true};
}

PairTask with_rdma(PairTask task) {
  task.rails[0].a_device = "mlx5_0";
  task.rails[0].b_device = "mlx5_1";
  task.rails[0].rate_bytes_per_s = 1e9;
  return task;
}

TEST(RoundOrder, SurvivesTheWayThroughJson) {
  RoundOrder order;
  order.tasks = {task(0, 1), task(2, 3)};
  order.seconds = 2;
  order.warmup_s = 0.3;
  const auto json = to_json_value(order);
  auto again = round_order_from_json(json);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_EQ(again->tasks.at(1).rails.at(0).b_netdev, "y0");
  EXPECT_EQ(again->tasks.at(0).mode, PairMode::partner);
  EXPECT_TRUE(again->tasks.at(0).b_first);
  EXPECT_FALSE(again->tasks.at(0).rails.at(0).has_rdma());
}

TEST(RoundOrder, RdmaOfARailSurvivesTheWayThroughJson) {
  RoundOrder order;
  order.tasks = {with_rdma(task(0, 1))};
  order.rdma_seconds = 0.2;
  order.rdma_round_trips = 90;
  auto again = round_order_from_json(to_json_value(order));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->tasks.at(0).rails.at(0).has_rdma());
  EXPECT_EQ(again->tasks.at(0).rails.at(0).b_device, "mlx5_1");
  EXPECT_EQ(again->tasks.at(0).rails.at(0).rate_bytes_per_s, 1e9);
  EXPECT_EQ(again->rdma_seconds, 0.2);
  EXPECT_EQ(again->rdma_round_trips, 90u);
}

TEST(RoundOrder, ARailWithoutRdmaSaysWhoDeclaresNone) {
  PairTask one = with_rdma(task(0, 1));
  EXPECT_EQ(rdma_skipped(one, one.rails[0]), "");
  one.rails[0].b_device.clear();
  EXPECT_EQ(rdma_skipped(one, one.rails[0]), "n1 declares no RDMA device for it");
  one.rails[0].a_device.clear();
  EXPECT_EQ(rdma_skipped(one, one.rails[0]), "n0 and n1 declare no RDMA device for it");
}

TEST(RoundOrder, EveryMissingKeyIsAnErrorThatNamesIt) {
  RoundOrder order;
  order.tasks = {task(0, 1)};
  const auto json = to_json_value(order);
  for (const auto& [key, value] : json.items()) {
    auto without = json;
    without.erase(key);
    auto parsed = round_order_from_json(without);
    ASSERT_FALSE(parsed) << key;
    EXPECT_THAT(parsed.error().what, HasSubstr(key));
  }
}

TEST(RoundOrder, ImpossibleValuesAreRefusedByName) {
  struct Case {
    std::function<void(RoundOrder&)> spoil;
    const char* says;
  };
  const Case cases[] = {
      {[](RoundOrder& o) { o.sizes = {}; }, "no message size"},
      {[](RoundOrder& o) { o.sizes = {12}; }, "message size 12"},
      {[](RoundOrder& o) {
         o.sizes = {8192, 4096};
       },
       "ascending"},
      {[](RoundOrder& o) { o.seconds = 0; }, "seconds is 0"},
      {[](RoundOrder& o) { o.stall_s = -1; }, "stall_s is -1"},
      {[](RoundOrder& o) { o.flows = 100'000; }, "flows is 100000"},
      {[](RoundOrder& o) { o.warmup_s = -1; }, "warmup_s is -1"},
      {[](RoundOrder& o) { o.rdma_seconds = 0; }, "rdma_seconds is 0"},
      {[](RoundOrder& o) { o.rdma_round_trips = 1; }, "rdma_round_trips is 1"},
      {[](RoundOrder& o) {
         o.tasks[0] = with_rdma(o.tasks[0]);
         o.tasks[0].rails[0].rate_bytes_per_s = 0;
       },
       "rate_bytes_per_s of r0 is 0"},
      {[](RoundOrder& o) { o.tasks[0].b_rank = 0; }, "both are rank 0"},
      {[](RoundOrder& o) { o.tasks[0].b_address.clear(); }, "management addresses"},
      {[](RoundOrder& o) { o.tasks[0].rails.clear(), o.tasks[0].overlay = false; }, "neither a rail nor the overlay"},
  };
  for (const auto& one : cases) {
    RoundOrder order;
    order.tasks = {task(0, 1)};
    ASSERT_TRUE(check_order(order));
    one.spoil(order);
    auto checked = check_order(order);
    ASSERT_FALSE(checked) << one.says;
    EXPECT_THAT(checked.error().what, HasSubstr(one.says));
  }
}

TEST(StreamPlans, ShareTheTimeOfADirectionAndKeepTheWarmUpOutOfTheWindow) {
  const auto plans = stream_plans(RoundOrder{}, 1.0);
  ASSERT_EQ(plans.size(), 3u);
  double total = 0;
  for (const auto& plan : plans) total += plan.warmup_s + plan.measure_s;
  EXPECT_NEAR(total, 1.0, 1e-9);
  EXPECT_NEAR(plans[0].warmup_s + plans[0].measure_s, 0.05, 1e-9);
  EXPECT_NEAR(plans[2].warmup_s, 0.2, 1e-9);
  EXPECT_NEAR(plans[2].measure_s, 0.7, 1e-9);
}

TEST(StreamPlans, AShortDirectionStillMeasuresMoreThanItWarmsUp) {
  const auto last = stream_plans(RoundOrder{}, 0.1).back();
  EXPECT_GT(last.measure_s, last.warmup_s);
}

TEST(ExpectedSeconds, CountsTheLongestChainOfARanksTasksNotTheirSum) {
  RoundOrder order;
  order.tasks = {task(0, 1)};
  const double one = expected_seconds(order);
  EXPECT_GT(one, 2 * order.seconds + 2 * order.overlay_seconds);
  order.tasks.push_back(task(2, 3));
  EXPECT_NEAR(expected_seconds(order), one, 1e-9);
  order.tasks.push_back(task(1, 2));
  EXPECT_NEAR(expected_seconds(order), 2 * one, 1e-9);
  EXPECT_EQ(expected_seconds(RoundOrder{}), 0);
  order.tasks.resize(1);
  const double fast = expected_seconds(order);
  for (RailEnds& rail : order.tasks[0].rails) rail.rate_bytes_per_s = 2.5e6;
  EXPECT_GT(expected_seconds(order), fast + 4) << "what is sent before a window is timed takes longer on a slow rail";
  order.tasks = {with_rdma(task(0, 1))};
  EXPECT_GT(expected_seconds(order), one + 2 * order.rdma_seconds);
}

}  // namespace
}  // namespace fabricgate::fabric
