#include "fabric/link/train_window.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

constexpr TrainPace pace{.frames = 20, .window = 4, .stall_s = 1, .patience_s = 100};

int send_all_allowed(TrainWindow& window, double now) {
  int sent = 0;
  for (; window.may_send(); ++sent) window.sent(now);
  return sent;
}

TEST(TrainWindow, OneFrameGoesAloneUntilTheFirstAnswer) {
  TrainWindow window(pace, 0);
  EXPECT_EQ(send_all_allowed(window, 0), 1);
  window.answered(1, 0.1);
  EXPECT_EQ(send_all_allowed(window, 0.1), 4);
}

TEST(TrainWindow, NeverMoreThanTheWindowIsOnTheWay) {
  TrainWindow window(pace, 0);
  send_all_allowed(window, 0);
  window.answered(1, 0);
  std::uint32_t answered = 1;
  while (window.next() < pace.frames) {
    send_all_allowed(window, 0);
    EXPECT_LE(window.next() - answered, pace.window);
    window.answered(++answered, 0);
  }
  EXPECT_FALSE(window.finished());
  window.answered(pace.frames, 0);
  EXPECT_TRUE(window.finished());
  EXPECT_FALSE(window.given_up());
}

TEST(TrainWindow, AFramePassedOverDoesNotHoldTheTrainUp) {
  TrainWindow window(pace, 0);
  send_all_allowed(window, 0);
  window.answered(1, 0);
  send_all_allowed(window, 0);
  window.answered(5, 0);  // whichever of 1 to 4 arrived
  EXPECT_EQ(send_all_allowed(window, 0), 4);
}

TEST(TrainWindow, SilenceLetsItGoOnEachTimeLater) {
  TrainWindow window(pace, 0);
  send_all_allowed(window, 0);
  window.tick(0.9);
  EXPECT_FALSE(window.may_send());
  window.tick(1);
  EXPECT_EQ(send_all_allowed(window, 1), 1);
  window.tick(2.5);  // the second silence in a row counts after two seconds
  EXPECT_FALSE(window.may_send());
  window.tick(3);
  EXPECT_TRUE(window.may_send());
}

TEST(TrainWindow, ALostLastFrameDoesNotHoldTheEndUp) {
  TrainWindow window({.frames = 1, .stall_s = 1}, 0);
  window.sent(0);
  EXPECT_FALSE(window.finished());
  window.tick(1);
  EXPECT_TRUE(window.finished());
  EXPECT_FALSE(window.given_up());
}

TEST(TrainWindow, WhenNobodyEverAnswersItEndsEarly) {
  TrainWindow window({.frames = 20, .stall_s = 0.01, .patience_s = 2}, 0);
  for (double now = 0; now < 3 && !window.finished(); now += 0.01) {
    send_all_allowed(window, now);
    window.tick(now);
  }
  EXPECT_TRUE(window.given_up());
  EXPECT_LT(window.next(), 20u);
}

TEST(TrainWindow, AnAnswerToWhatWasNeverSentIsIgnored) {
  TrainWindow window(pace, 0);
  window.answered(15, 0);
  EXPECT_EQ(send_all_allowed(window, 0), 1);
}

}  // namespace
}  // namespace fabricgate::fabric
