#include "fabric/round/window.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

/// Marks every 10 ms from 0 on, at these rates (messages per 10 ms); the last one is where the warm-up ends.
std::vector<Mark> marks(const std::vector<std::uint64_t>& rates) {
  std::vector<Mark> out{{0, 0}};
  for (const auto each : rates) out.push_back({out.back().time_s + 0.01, out.back().messages + each});
  return out;
}

std::uint64_t start_of(std::vector<Mark> warmup, std::uint64_t messages_per_s) {
  const Mark start = warmup.back();
  warmup.pop_back();
  return window_start(warmup, start, {start.time_s + 1, start.messages + messages_per_s}).messages;
}

TEST(StreamWindow, PathThatWasWarmAtOnceCountsFromTheFirstMark) {
  EXPECT_EQ(start_of(marks({100, 101, 99, 100}), 10000), 0u);
}

TEST(StreamWindow, SlowStartIsLeftOut) {
  EXPECT_EQ(start_of(marks({1, 4, 16, 64, 100, 100, 100, 100, 100, 100}), 10000), 85u);
}

TEST(StreamWindow, FullBucketIsLeftOut) {
  EXPECT_EQ(start_of(marks({300, 300, 100, 100, 100, 100}), 10000), 600u);
}

TEST(StreamWindow, WarmUpAtAnotherRateDoesNotCount) {
  EXPECT_EQ(start_of(marks({200, 200, 200, 200}), 10000), 800u);
  EXPECT_EQ(start_of(marks({50, 50, 50, 50}), 10000), 200u);
}

TEST(StreamWindow, RateMovesByNoMoreThanTheShareOfTheWarmUp) {
  const auto warmup = marks({104, 104, 104, 104, 104, 104, 104, 104, 104, 104});
  const Mark start = warmup.back(), end{start.time_s + 0.9, start.messages + 9000};
  const Mark from = window_start(warmup, start, end);
  EXPECT_LT(from.messages, start.messages);
  const double rate = static_cast<double>(end.messages - from.messages) / (end.time_s - from.time_s);
  EXPECT_NEAR(rate / 10000, 1, 0.05 * 0.1);
}

TEST(StreamWindow, NothingAfterTheWarmUpLeavesTheStartWhereItIs) {
  EXPECT_EQ(window_start({{0, 0}}, {1, 10}, {1, 10}).messages, 10u);
  EXPECT_EQ(window_start({{1, 10}}, {1, 10}, {2, 20}).messages, 10u);
}

}  // namespace
}  // namespace fabricgate::fabric
