#include "fabric/collective/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CollectiveOrder two_ranks() {
  CollectiveOrder order;
  order.ranks = {0, 1};
  order.hosts = {"n0", "n1"};
  order.rails = {{.name = "r0", .netdevs = {"x", "x"}}};
  order.steps = {{8, Algorithm::recursive_doubling}, {1000, Algorithm::ring}};
  order.iterations = 2;
  return order;
}

RankReport report(double small, double large) {
  RankReport one;
  one.elapsed_s = {{small, small}, {large, large * 3}};
  one.elements_checked = 10;
  one.moved = {{1000, 900}};
  return one;
}

TEST(Summary, TakesTheSlowestRanksMean) {
  const auto sample = summarise(two_ranks(), {report(0.1, 0.25), report(0.2, 0.125)});
  ASSERT_EQ(sample.points.size(), 2u);
  EXPECT_DOUBLE_EQ(sample.points[0].elapsed_s, 0.2);
  EXPECT_DOUBLE_EQ(sample.points[1].elapsed_s, 0.5);
  EXPECT_DOUBLE_EQ(sample.points[1].busbw_bytes_per_s, 2000);
  EXPECT_EQ(sample.points[1].algorithm, "ring");
  EXPECT_THAT(sample.rank_elapsed_s, ElementsAre(0.5, 0.25));
  EXPECT_EQ(sample.elements_checked, 20u);
  EXPECT_EQ(sample.rail, "r0");
  ASSERT_EQ(sample.moved.size(), 2u);
  EXPECT_EQ(sample.moved[1].host + " " + sample.moved[1].rail, "n1 r0");
  EXPECT_EQ(sample.moved[1].sent_bytes, 1000u);
  EXPECT_EQ(sample.moved[1].received_bytes, 900u);
  EXPECT_EQ(sample.error, "");
}

TEST(Summary, ARankWithoutAReportIsMissingAndItsStepsHaveNoPoint) {
  auto waiting = report(0.1, 0.2);
  waiting.elapsed_s.clear();
  waiting.error = "waited for n1";
  const auto sample = summarise(two_ranks(), {waiting, std::nullopt});
  EXPECT_THAT(sample.missing, ElementsAre("n1"));
  EXPECT_TRUE(sample.points.empty());
  EXPECT_THAT(sample.error, HasSubstr("n1 did not report; n0: waited for n1"));
}

TEST(Summary, TheErrorOfTheRankThatGotLeastFarIsShownAndFinishedStepsAreKept) {
  auto a = report(0.1, 0.2), b = report(0.1, 0.2);
  a.elapsed_s.pop_back(), b.elapsed_s.pop_back();
  a.error = "later", a.progress = 9;
  b.error = "earlier", b.progress = 7, b.waited_for = "n0", b.rail = "r0";
  const auto sample = summarise(two_ranks(), {a, b});
  EXPECT_EQ(sample.error, "n1: earlier");
  EXPECT_EQ(sample.failed.host + " " + sample.failed.peer + " " + sample.failed.rail, "n1 n0 r0");
  EXPECT_EQ(sample.points.size(), 1u);
}

TEST(Summary, WrongElementsNameTheHost) {
  auto a = report(0.1, 0.2), b = report(0.1, 0.2);
  b.elements_wrong = 3;
  b.first_wrong = "element 5: expected 1, found 2";
  const auto sample = summarise(two_ranks(), {a, b});
  EXPECT_EQ(sample.elements_wrong, 3u);
  EXPECT_EQ(sample.first_wrong, "host n1 element 5: expected 1, found 2");
}

TEST(RankReport, SurvivesTheWayThroughJson) {
  auto one = report(0.5, 0.25);
  one.error = "e", one.progress = 4, one.first_wrong = "w", one.elements_wrong = 1;
  const auto json = to_json_value(one);
  auto again = rank_report_from_json(json);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_FALSE(rank_report_from_json(nlohmann::json::object()));
}

}  // namespace
}  // namespace fabricgate::fabric
