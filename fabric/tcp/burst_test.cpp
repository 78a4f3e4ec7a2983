#include "fabric/tcp/burst.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

BurstTimes times_of(std::initializer_list<double> seconds) {
  BurstTimes times;
  std::size_t flow = 0;
  for (const double time : seconds) times.note(flow++, time);
  return times;
}

TEST(BurstTimes, WhatIsUsualIsNotMovedByAHalfThatIsSlow) {
  EXPECT_EQ(times_of({1, 9, 1, 9, 1, 9, 9, 9}).usual(), 1);
  EXPECT_EQ(BurstTimes().usual(), 0);
}

TEST(BurstTimes, TheBestTimeOfAConnectionCounts) {
  BurstTimes times = times_of({1, 1, 1, 9});
  EXPECT_THAT(times.to_repeat(), ElementsAre(3));
  times.note(3, 20);
  EXPECT_EQ(times.of(3), 9);
  times.note(3, 2);
  EXPECT_FALSE(times.stands_out(3));
  EXPECT_THAT(times.to_repeat(), IsEmpty());
}

TEST(BurstTimes, TheSlowestAreRepeatedFirstAndNotWithoutEnd) {
  EXPECT_THAT(times_of({1, 1, 1, 1, 5, 7, 6}).to_repeat(), ElementsAre(5, 6, 4));
  BurstTimes times;
  for (std::size_t flow = 0; flow < 64; ++flow) times.note(flow, flow < 32 ? 1 : 9);
  EXPECT_THAT(times.to_repeat(), SizeIs(8));
}

TEST(Burst, OtherBytesForEveryTokenAndNoneThatAreTheirOwnInverse) {
  EXPECT_NE(burst_of(1).bytes, burst_of(2).bytes);
  EXPECT_EQ(burst_of(1).bytes, burst_of(1).bytes);
  EXPECT_NE(inverted(burst_of(1)).bytes, burst_of(1).bytes);
  EXPECT_EQ(inverted(inverted(word_of(7))).bytes, word_of(7).bytes);
}

}  // namespace
}  // namespace fabricgate::fabric
