/// Two ends in two threads over the loopback interface.
#include "fabric/link/train.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fabric/link/train_socket.hpp"
#include "fabric/thread_rendezvous.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint32_t loopback = 0x7f000001;
using Halves = std::vector<TrainHalf>;

TrainRail rail(const std::string& name, int mtu = 9000) {
  return {.rail = name, .netdev = "lo", .source = loopback, .target = loopback, .mtu = mtu};
}

struct End {
  std::vector<TrainRail> rails;
  TrainOptions options;
  double seconds = 60;
};

std::pair<Halves, Halves> meet(const End& a, const End& b) {
  ThreadGroup group(2);
  Halves of_a, of_b;
  const auto work = [&group](int rank, const End& end, Halves& out) {
    ThreadRendezvous rendezvous(group, rank);
    out = run_trains(rendezvous, 1 - rank, 7, end.rails, end.options, Deadline::in_seconds(end.seconds));
  };
  std::thread other(work, 1, std::cref(b), std::ref(of_b));
  work(0, a, of_a);
  other.join();
  return {of_a, of_b};
}

TEST(Train, WithoutLossEveryFrameOfEveryRailArrivesBothWays) {
  const End end{.rails = {rail("one"), rail("two", 1500)}};
  const auto [a, b] = meet(end, end);
  ASSERT_THAT(a, SizeIs(2));
  ASSERT_THAT(b, SizeIs(2));
  for (const Halves& halves : {a, b})
    for (const TrainHalf& half : halves) {
      EXPECT_EQ(half.error, "");
      EXPECT_EQ(half.sent, 256u);
      EXPECT_EQ(half.received, 256u);
      EXPECT_EQ(half.repeated, 0u);
    }
  EXPECT_EQ(a[1].rail, "two");
}

TEST(Train, LostFramesAreMissedByTheirReceiverAlone) {
  const End clean{.rails = {rail("one"), rail("two")}};
  End lossy = clean;
  lossy.options.lose = [](const std::string& name, std::uint32_t number) { return name == "two" && number % 16 == 3; };
  const auto [a, b] = meet(lossy, clean);
  EXPECT_EQ(b[1].received, 240u);
  EXPECT_EQ(a[1].sent, 256u);
  EXPECT_EQ(a[1].received, 256u);
  EXPECT_EQ(b[0].received, 256u);
}

TEST(Train, LostLastFramesAreCountedToo) {
  const End clean{.rails = {rail("one")}};
  End lossy = clean;
  lossy.options.lose = [](const std::string&, std::uint32_t number) { return number >= 253; };
  const auto [a, b] = meet(lossy, clean);
  EXPECT_EQ(a[0].sent, 256u);
  EXPECT_EQ(b[0].received, 253u);
}

TEST(Train, WhenNothingArrivesTheTrainEndsEarlyAndSaysHowManyWent) {
  End clean{.rails = {rail("one")}};
  clean.options.pace.patience_s = 0.3;
  End deaf = clean;
  deaf.options.lose = [](const std::string&, std::uint32_t) { return true; };
  const auto [a, b] = meet(deaf, clean);
  EXPECT_EQ(a[0].error, "");
  EXPECT_GT(a[0].sent, 0u);
  EXPECT_LT(a[0].sent, 256u);
  EXPECT_EQ(b[0].received, 0u);
  EXPECT_EQ(a[0].received, 256u);
}

TEST(Train, WhatTheReceivingHostThrowsAwayIsNotLostOnTheWay) {
  const End small{.rails = {rail("one")}, .options = {.receive_buffer_bytes = 1}};
  End flood{.rails = {rail("one")}};
  flood.options.pace.frames = 4000;
  flood.options.pace.window = 4000;
  End receiver = small;
  receiver.options.pace.frames = 4000;  // what it counts; its own train stays within the window of 8
  const auto [a, b] = meet(flood, receiver);
  ASSERT_EQ(b[0].error, "");
  EXPECT_GT(b[0].dropped, 0u);
  EXPECT_GE(b[0].received + b[0].dropped, a[0].sent);
}

TEST(Train, ARailThatOneEndCannotOpenIsAnErrorAtBothAndTheOtherRailIsCounted) {
  End good{.rails = {rail("one"), rail("two")}};
  End bad = good;
  bad.rails[0].netdev = "no-such-device";
  const auto [a, b] = meet(good, bad);
  EXPECT_THAT(b[0].error, HasSubstr("no-such-device"));
  EXPECT_THAT(a[0].error, HasSubstr("no-such-device"));
  EXPECT_EQ(a[1].received, 256u);
  EXPECT_EQ(b[1].received, 256u);
}

TEST(Train, APacketThatDoesNotFitTheInterfaceSaysSo) {
  const End good{.rails = {rail("one")}};
  End bad = good;
  bad.rails[0].mtu = 1 << 17;
  bad.options.pace.patience_s = 0.2;
  EXPECT_THAT(meet(bad, good).first[0].error, HasSubstr("lo itself is set to less"));
}

TEST(Train, APeerThatDoesNotComeIsAnErrorWithinTheDeadline) {
  ThreadGroup group(2);
  group.lose(1);
  ThreadRendezvous rendezvous(group, 0);
  const auto halves = run_trains(rendezvous, 1, 0, {rail("one")}, {}, Deadline::in_seconds(1));
  ASSERT_THAT(halves, SizeIs(1));
  EXPECT_THAT(halves[0].error, HasSubstr("the peer did not come"));
}

TEST(Train, BacklogDropsAreTheSecondColumnInHexadecimal) {
  EXPECT_EQ(backlog_drops_in("0000a3f1 00000010 00000000 00000000\n00000001 0000000f 00000000\n"), 31u);
  EXPECT_EQ(backlog_drops_in(""), 0u);
  EXPECT_EQ(backlog_drops_in("garbage"), 0u);
}

}  // namespace
}  // namespace fabricgate::fabric
