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
  ASSERT_EQ(watch_.given_up().size(), 1u);
  EXPECT_EQ(watch_.given_up().at("b").found, "process 42 stands still in 'pairs', state T (stopped by a signal)");
}

TEST_F(JobWatchTest, OneMissedBeatIsForgivenWhenTheNextComes) {
  a_ = [](int n) { return beating(n / 2 + 1); };
  EXPECT_FALSE(gives_up_within(300));
}

TEST_F(JobWatchTest, ANodeThatDoesNotAnswerLookAfterLookIsNamedWithTheReason) {
  a_ = [](int n) { return n == 1 ? beating(1) : Look{.reached = false, .pulse = {}, .why = "TCP connect: timeout"}; };
  EXPECT_TRUE(gives_up_within(60));
  EXPECT_EQ(watch_.given_up().at("a").found, "the node does not answer over SSH: TCP connect: timeout");
}

TEST_F(JobWatchTest, WhereNoNodeAnswersThatIsTold) {
  a_ = b_ = [](int n) { return n == 1 ? beating(1) : Look{.reached = false, .pulse = {}, .why = "timeout"}; };
  EXPECT_TRUE(gives_up_within(60));
  EXPECT_TRUE(watch_.nobody_reached());
  a_ = [](int) { return beating(7); };
  JobWatch other({"a", "b"}, [this] { return clock_s_; }, [this] { return look(); });
  for (clock_s_ = 0; clock_s_ < 60 && !other.give_up(); ++clock_s_) {}
  EXPECT_FALSE(other.nobody_reached());
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
  EXPECT_EQ(watch_.given_up().count("a"), 0u);
}

TEST_F(JobWatchTest, AProcessThatNeverBeginsHasItsStartTimeAndIsThenNamed) {
  b_ = [](int) { return Look{.reached = true, .pulse = {}, .why = ""}; };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_NE(watch_.given_up().at("b").found.find("no process of the job has begun"), std::string::npos);
}

TEST_F(JobWatchTest, WhenNoProcessBeginsAnywhereTheLauncherIsGivenUpAndNoNodeBlamed) {
  a_ = b_ = [](int) { return Look{.reached = true, .pulse = {}, .why = ""}; };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_TRUE(watch_.given_up().empty());
  EXPECT_NE(watch_.never_began(), "");
}

Look with_daemon(DaemonReading daemon) { return {.reached = true, .pulse = {}, .why = "", .daemon = std::move(daemon)}; }
const DaemonReading connected{.pid = 7, .connected = true}, calling{.pid = 7, .calls = "10.0.0.1:24000"}, waiting{.pid = 7, .state = 'S'};

TEST_F(JobWatchTest, ADaemonThatIsNotAnsweredLookAfterLookNamesItsNodeAndNoOther) {
  a_ = [](int) { return with_daemon(connected); };
  b_ = [](int) { return with_daemon(calling); };
  EXPECT_TRUE(gives_up_within(20));
  ASSERT_EQ(watch_.given_up().size(), 1u);
  EXPECT_EQ(watch_.given_up().at("b").cause, "launch.head_unreachable");
}

TEST_F(JobWatchTest, ADaemonThatIsSlowIsLeftInPeaceUntilTheStartTimeIsOver) {
  a_ = [](int) { return with_daemon(connected); };
  b_ = [](int) { return with_daemon(waiting); };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  ASSERT_EQ(watch_.given_up().size(), 1u);
  EXPECT_EQ(watch_.given_up().at("b").cause, "launch.daemon_failed");
}

TEST_F(JobWatchTest, ADaemonThatIsCaughtCallingNowAndThenIsNotBlamed) {
  a_ = [](int) { return with_daemon(connected); };
  b_ = [](int n) { return with_daemon(n % 3 == 0 ? connected : calling); };
  EXPECT_FALSE(gives_up_within(50));
}

TEST_F(JobWatchTest, ADaemonThatIsGoneIsBlamedOnlyOnceSshSaysThatItWasStarted) {
  a_ = [](int) { return with_daemon(connected); };
  b_ = [](int) { return with_daemon({}); };
  EXPECT_FALSE(gives_up_within(30));
  watch_.started("b");
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_EQ(watch_.given_up().at("b").found, "ssh started it, and it is gone");
}

TEST_F(JobWatchTest, WhenNoDaemonComesThroughToTheHeadItIsTheLaunchersTroubleAndSaidSo) {
  a_ = b_ = [](int) { return with_daemon(calling); };
  EXPECT_TRUE(gives_up_within(20));
  EXPECT_TRUE(watch_.given_up().empty());
  EXPECT_NE(watch_.never_began().find("10.0.0.1:24000"), std::string::npos);
}

TEST_F(JobWatchTest, AsLongAsNoOtherCameThroughATroubledDaemonIsNotBlamed) {
  a_ = [](int) { return with_daemon(waiting); };
  b_ = [](int) { return with_daemon(calling); };
  EXPECT_FALSE(gives_up_within(59));
  EXPECT_TRUE(gives_up_within(15));
  EXPECT_TRUE(watch_.given_up().empty());
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
  EXPECT_TRUE(watch_.given_up().empty());
  EXPECT_EQ(looks_, 0);
}

}  // namespace
}  // namespace fabricgate::launch
