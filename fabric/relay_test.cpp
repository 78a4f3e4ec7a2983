#include "fabric/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fabric/thread_rendezvous.hpp"

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One end: a thread per lane, which this thread carries for.
struct RelayEnd {
  ThreadRendezvous rendezvous;
  Relay relay;
  Status carried;

  RelayEnd(ThreadGroup& group, int rank, int lanes) : rendezvous(group, rank), relay(rendezvous, 1 - rank, 7, lanes) {}

  template <class Work>
  void run(int lanes, Work work) {
    std::vector<std::thread> threads;
    for (int lane = 0; lane < lanes; ++lane)
      threads.emplace_back([this, lane, work] {
        RelayLane meet(relay, lane);
        work(lane, meet);
      });
    carried = relay.carry(5, Deadline::in_seconds(30));
    for (auto& thread : threads) thread.join();
  }
};

Deadline late() {
  return Deadline::in_seconds(30);
}

TEST(Relay, LanesSwapTextsInOrderWhateverTheOthersDo) {
  ThreadGroup group(2);
  RelayEnd a(group, 0, 3), b(group, 1, 3);
  std::vector<std::string> heard[2][3];
  const auto talk = [&heard](int end) {
    return [&heard, end](int lane, RelayLane& meet) {
      for (int i = 0; i < 10 * (lane + 1); ++i) {
        auto text =
            meet.exchange(0, 0, std::to_string(end) + "/" + std::to_string(lane) + "/" + std::to_string(i), late());
        heard[end][lane].push_back(text ? *text : text.error().what);
      }
    };
  };
  std::thread other([&] { b.run(3, talk(1)); });
  a.run(3, talk(0));
  other.join();
  EXPECT_TRUE(a.carried);
  EXPECT_TRUE(b.carried);
  for (int end : {0, 1})
    for (int lane : {0, 1, 2}) {
      ASSERT_EQ(heard[end][lane].size(), 10u * (lane + 1));
      for (int i = 0; i < 10 * (lane + 1); ++i)
        EXPECT_EQ(heard[end][lane][static_cast<std::size_t>(i)],
                  std::to_string(1 - end) + "/" + std::to_string(lane) + "/" + std::to_string(i));
    }
}

TEST(Relay, ALaneThatThePeerHasClosedIsToldAndTheOthersGoOn) {
  ThreadGroup group(2);
  RelayEnd a(group, 0, 2), b(group, 1, 2);
  std::vector<std::string> heard(2);
  std::thread other([&] {
    b.run(2, [](int lane, RelayLane& meet) {
      if (lane == 1) (void)meet.exchange(0, 0, "b", late());
    });
  });
  a.run(2, [&](int lane, RelayLane& meet) {
    auto text = meet.exchange(0, 0, "a", late());
    heard[static_cast<std::size_t>(lane)] = text ? *text : text.error().what;
  });
  other.join();
  EXPECT_THAT(heard, ElementsAre(HasSubstr("rank 1 has ended its part"), "b"));
  EXPECT_TRUE(a.carried);
}

TEST(Relay, WhenThePeerIsSilentEveryLaneIsToldAndNobodyWaits) {
  ThreadGroup group(2);
  group.lose(1);
  RelayEnd a(group, 0, 2);
  std::vector<std::string> heard(2);
  std::vector<std::thread> threads;
  for (int lane : {0, 1})
    threads.emplace_back([&, lane] {
      RelayLane meet(a.relay, lane);
      auto text = meet.exchange(0, 0, "a", late());
      heard[static_cast<std::size_t>(lane)] = text ? *text : text.error().what;
    });
  EXPECT_FALSE(a.relay.carry(0.1, late()));
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(heard, ElementsAre(HasSubstr("did not answer"), HasSubstr("did not answer")));
}

TEST(Relay, WhatIsNoBundleEndsIt) {
  ThreadGroup group(2);
  RelayEnd a(group, 0, 1);
  ThreadRendezvous stranger(group, 1);
  std::thread other([&] { (void)stranger.exchange(0, 7, "{}", late()); });
  const Status carried = a.relay.carry(5, late());
  other.join();
  ASSERT_FALSE(carried);
  EXPECT_EQ(carried.error().kind, ErrorKind::parse);
  EXPECT_THAT(carried.error().what, HasSubstr("texts"));
}

TEST(Relay, ALaneIsForExchangesAlone) {
  ThreadGroup group(2);
  RelayEnd a(group, 0, 1);
  RelayLane meet(a.relay, 0);
  EXPECT_EQ(meet.gather("", late()).error().kind, ErrorKind::bug);
  EXPECT_EQ(meet.broadcast("", late()).error().kind, ErrorKind::bug);
}

}  // namespace
}  // namespace fabricgate::fabric
