#include "launch/gate/watch.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

Look beating(std::int64_t beats, char state = 'S') { return {.reached = true, .pulse = PulseReading{42, beats, "pairs", state}, .why = ""}; }

/// A job of hosts "a" and "b" on a clock that the test moves.
class JobWatchTest : public testing::Test {
 protected:
  double clock_s_ = 0;
  int looks_ = 0;
  std::function<Look(int)> a_ = [](int n) { return beating(n); }, b_ = [](int n) { return beating(n); };
  JobWatch watch_{{"a", "b"}, [this] { return clock_s_; }, [this] { return look(); }};

  std::vector<Look> look() {
    ++looks_;
    return {a_(looks_), b_(looks_)};
  }
  /// True when the watch gave up within `seconds`, looked at every tenth of one.
  bool gives_up_within(double seconds) {
    for (const double end = clock_s_ + seconds; clock_s_ < end; clock_s_ += 0.1)
      if (watch_.give_up()) return true;
    return false;
  }
};

TEST_F(JobWatchTest, AJobThatSpeaksIsNeverLookedAt) {
  for (int i = 0; i < 100; ++i, watch_.heard()) EXPECT_FALSE(gives_up_within(9));
  EXPECT_EQ(looks_, 0);
}

TEST_F(JobWatchTest, ASilentJobWhosePulsesBeatGoesOnAndIsLookedAtLessAndLess) {
  EXPECT_FALSE(gives_up_within(1000));
  EXPECT_LE(looks_, 8);
  EXPECT_GE(looks_, 5);
}

TEST_F(JobWatchTest, AProcessThatWasStoppedIsNamedWithItsStateAndOthersAreNot) {
  b_ = [](int) { return beating(7, 'T'); };
  EXPECT_TRUE(gives_up_within(30));
  ASSERT_EQ(watch_.silent().size(), 1u);
  EXPECT_EQ(watch_.silent().at("b"), "process 42 stands still in 'pairs', state T (stopped by a signal)");
}

TEST_F(JobWatchTest, OneMissedBeatIsForgivenWhenTheNextComes) {
  a_ = [](int n) { return beating(n / 2 + 1); };
  EXPECT_FALSE(gives_up_within(300));
}

TEST_F(JobWatchTest, ANodeThatDoesNotAnswerLookAfterLookIsNamedWithTheReason) {
  a_ = [](int n) { return n == 1 ? beating(1) : Look{.reached = false, .pulse = {}, .why = "TCP connect: timeout"}; };
  EXPECT_TRUE(gives_up_within(60));
  EXPECT_EQ(watch_.silent().at("a"), "the node does not answer over SSH: TCP connect: timeout");
}

TEST_F(JobWatchTest, ANodeThatAnswersAgainIsKept) {
  a_ = [](int n) { return n % 3 == 0 ? beating(n) : Look{.reached = false, .pulse = {}, .why = "refused"}; };
  EXPECT_FALSE(gives_up_within(300));
}

TEST_F(JobWatchTest, AProcessThatDoesNotBeginThoughOthersDidLongAgoIsNamed) {
  b_ = [](int) { return Look{.reached = true, .pulse = {}, .why = ""}; };
  a_ = [this](int) { return beating(static_cast<int>(clock_s_) - 2); };
  EXPECT_FALSE(gives_up_within(21));
  EXPECT_TRUE(gives_up_within(5));
  EXPECT_EQ(watch_.silent().count("a"), 0u);
}

TEST_F(JobWatchTest, AProcessThatNeverBeginsHasItsStartTimeAndIsThenNamed) {
  b_ = [](int) { return Look{.reached = true, .pulse = {}, .why = ""}; };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_NE(watch_.silent().at("b").find("no process of the job has begun"), std::string::npos);
}

TEST_F(JobWatchTest, WhenNoProcessBeginsAnywhereTheLauncherIsGivenUpAndNoNodeBlamed) {
  a_ = b_ = [](int) { return Look{.reached = true, .pulse = {}, .why = ""}; };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_TRUE(watch_.silent().empty());
  EXPECT_TRUE(watch_.never_began());
}

TEST_F(JobWatchTest, SpeechClearsWhatWasSuspected) {
  b_ = [](int) { return beating(7); };
  EXPECT_FALSE(gives_up_within(14));
  watch_.heard();
  EXPECT_FALSE(gives_up_within(9));
}

TEST_F(JobWatchTest, AfterTheEndTheLauncherHasAFewSecondsAndNobodyIsBlamed) {
  watch_.ended();
  EXPECT_FALSE(gives_up_within(9.5));
  EXPECT_TRUE(gives_up_within(2));
  EXPECT_TRUE(watch_.silent().empty());
  EXPECT_EQ(looks_, 0);
}

}  // namespace
}  // namespace fabricgate::launch
