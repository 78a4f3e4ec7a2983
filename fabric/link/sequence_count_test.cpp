#include "fabric/link/sequence_count.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

TEST(SequenceCount, FramesThatAreMissingAreNotReceived) {
  SequenceCount count(10);
  for (const std::uint32_t number : {0U, 1U, 3U, 4U, 9U}) EXPECT_TRUE(count.note(number));
  EXPECT_EQ(count.received(), 5u);
  EXPECT_EQ(count.repeated(), 0u);
  EXPECT_EQ(count.reached(), 10u);
  EXPECT_FALSE(count.complete());
}

TEST(SequenceCount, AFrameThatComesTwiceHidesNoLostOne) {
  SequenceCount count(4);
  for (const std::uint32_t number : {0U, 1U, 1U, 1U, 2U}) count.note(number);
  EXPECT_EQ(count.received(), 3u);
  EXPECT_EQ(count.repeated(), 2u);
  EXPECT_FALSE(count.complete());
}

TEST(SequenceCount, LateFramesAreNotLostOnes) {
  SequenceCount count(4);
  for (const std::uint32_t number : {3U, 0U, 2U, 1U}) count.note(number);
  EXPECT_TRUE(count.complete());
  EXPECT_EQ(count.reached(), 4u);
}

TEST(SequenceCount, NumbersOfNoFrameAreRefused) {
  SequenceCount count(4);
  EXPECT_FALSE(count.note(4));
  EXPECT_FALSE(count.note(0xffffffff));
  EXPECT_EQ(count.received(), 0u);
  EXPECT_EQ(count.reached(), 0u);
}

}  // namespace
}  // namespace fabricgate::fabric
