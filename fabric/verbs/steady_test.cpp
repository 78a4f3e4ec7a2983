#include "fabric/verbs/steady.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

TEST(SteadyPart, WithoutMarginsEverythingCountsFromTheStart) {
  SteadyPart steady({.from_messages = 0, .to_messages = 1000}, {.time_s = 5});
  EXPECT_EQ(steady.next(), 1000u);
  steady.take({.time_s = 7, .messages = 1000});
  EXPECT_TRUE(steady.whole());
  EXPECT_EQ(steady.begin().time_s, 5);
  EXPECT_EQ(steady.end().messages, 1000u);
}

TEST(SteadyPart, OfAnumberOfMessagesTheMarginsAreLeftOut) {
  SteadyPart steady({.from_messages = 100, .to_messages = 900}, {.time_s = 0});
  EXPECT_EQ(steady.next(), 100u);
  steady.take({.time_s = 3, .messages = 128});
  EXPECT_EQ(steady.next(), 900u);
  EXPECT_FALSE(steady.whole());
  steady.take({.time_s = 4, .messages = 928});
  EXPECT_TRUE(steady.whole());
  EXPECT_EQ(steady.begin().messages, 128u);
  EXPECT_EQ(steady.end().messages, 928u);
  EXPECT_GT(steady.next(), 1u << 30);  // nothing more is to be asked
}

TEST(SteadyPart, OfATimeTheMarginsAreLeftOutAndTheLastOneIsWaitedFor) {
  SteadyPart steady({.margin_s = 1, .seconds = 2}, {.time_s = 10});
  EXPECT_EQ(steady.next(), 0u);
  EXPECT_FALSE(steady.due(10.5));
  ASSERT_TRUE(steady.due(11.25));
  steady.take({.time_s = 11.25, .messages = 40});
  EXPECT_FALSE(steady.due(13));
  ASSERT_TRUE(steady.due(13.5));
  steady.take({.time_s = 13.5, .messages = 100});
  EXPECT_TRUE(steady.whole());
  EXPECT_FALSE(steady.over());
  EXPECT_FALSE(steady.due(14));
  ASSERT_TRUE(steady.due(14.5));
  steady.take({.time_s = 14.5, .messages = 120});
  EXPECT_TRUE(steady.over());
  EXPECT_EQ(steady.end().messages - steady.begin().messages, 60u);
}

}  // namespace
}  // namespace fabricgate::fabric
