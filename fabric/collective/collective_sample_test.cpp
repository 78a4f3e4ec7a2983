#include "fabric/collective/collective_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

CollectiveSample full_sample() {
  return {.hosts = {"n1", "n2"},
          .ranks = 2,
          .engine = "ucx-tcp",
          .rail = "rail0",
          .points = {{.bytes = 8, .algorithm = "ring", .iterations = 3, .elapsed_s = 0.5, .busbw_bytes_per_s = 16}},
          .elements_checked = 10,
          .elements_wrong = 1,
          .first_wrong = "host n1 element 1",
          .rank_elapsed_s = {0.5, 0.4},
          .missing = {"n3"},
          .error = "late"};
}

TEST(CollectiveSample, SurvivesTheWayThroughJson) {
  const auto json = to_json_value(full_sample());
  auto again = collective_sample_from_json(json);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_EQ(again->points.at(0).algorithm, "ring");
}

TEST(CollectiveSample, EveryMissingKeyIsAnErrorThatNamesIt) {
  const auto json = to_json_value(full_sample());
  for (const auto& [key, value] : json.items()) {
    auto without = json;
    without.erase(key);
    auto parsed = collective_sample_from_json(without);
    ASSERT_FALSE(parsed) << key;
    EXPECT_THAT(parsed.error().what, testing::HasSubstr(key));
  }
}

}  // namespace
}  // namespace fabricgate::fabric
