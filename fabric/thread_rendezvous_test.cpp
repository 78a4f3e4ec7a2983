#include "fabric/thread_rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void on_ranks(ThreadGroup& group, const std::function<void(Rendezvous&)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&group, &body, rank] {
      ThreadRendezvous rendezvous(group, rank);
      body(rendezvous);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(ThreadRendezvous, GathersOneEntryPerRankAtRankZeroAndNothingElsewhere) {
  ThreadGroup group(3);
  on_ranks(group, [](Rendezvous& rendezvous) {
    auto all = rendezvous.gather(std::to_string(rendezvous.rank() * 10), Deadline::in_seconds(5));
    ASSERT_TRUE(all);
    if (rendezvous.rank() == 0) {
      EXPECT_THAT(*all, ElementsAre("0", "10", "20"));
    } else {
      EXPECT_TRUE(all->empty());
    }
  });
}

TEST(ThreadRendezvous, SaysWhichRankDidNotArriveAndDoesNotWaitForEver) {
  ThreadGroup group(3);
  group.lose(1);
  on_ranks(group, [](Rendezvous& rendezvous) {
    auto all = rendezvous.gather("here", Deadline::in_seconds(0.2));
    if (rendezvous.rank() == 0) {
      EXPECT_THAT(*all, ElementsAre("here", std::nullopt, "here"));
    }
    if (rendezvous.rank() == 1) {
      EXPECT_EQ(all.error().kind, ErrorKind::unavailable);
    }
  });
}

TEST(ThreadRendezvous, BroadcastGivesEveryRankTheTextsOfRankZeroInOrder) {
  ThreadGroup group(3);
  on_ranks(group, [](Rendezvous& rendezvous) {
    for (const std::string text : {"first", "second"}) {
      auto heard = rendezvous.broadcast(rendezvous.rank() == 0 ? text : "ignored", Deadline::in_seconds(5));
      ASSERT_TRUE(heard);
      EXPECT_EQ(*heard, text);
    }
  });
}

TEST(ThreadRendezvous, BroadcastOfALostRankZeroIsATimeout) {
  ThreadGroup group(2);
  group.lose(0);
  ThreadRendezvous one(group, 1);
  EXPECT_EQ(one.broadcast("", Deadline::in_seconds(0.05)).error().kind, ErrorKind::timeout);
}

TEST(ThreadRendezvous, ExchangesOfOnePairAreToldApartByTag) {
  ThreadGroup group(2);
  on_ranks(group, [](Rendezvous& rendezvous) {
    const int me = rendezvous.rank();
    const auto say = [me](int tag) { return std::to_string(me) + "/" + std::to_string(tag); };
    for (const int tag : {7, 8, 7}) {
      auto theirs = rendezvous.exchange(1 - me, tag, say(tag), Deadline::in_seconds(5));
      ASSERT_TRUE(theirs);
      EXPECT_EQ(*theirs, std::to_string(1 - me) + "/" + std::to_string(tag));
    }
  });
}

TEST(ThreadRendezvous, ExchangeWithALostPeerNamesThePeer) {
  ThreadGroup group(2);
  group.lose(1);
  ThreadRendezvous zero(group, 0);
  auto theirs = zero.exchange(1, 0, "hello", Deadline::in_seconds(0.05));
  EXPECT_EQ(theirs.error().kind, ErrorKind::timeout);
  EXPECT_THAT(theirs.error().what, HasSubstr("rank 1"));
}

TEST(AllGather, GivesEveryRankEveryTextWithAnyBytes) {
  ThreadGroup group(3);
  on_ranks(group, [](Rendezvous& rendezvous) {
    const std::string mine = std::string("\0\xff", 2) + std::to_string(rendezvous.rank());
    auto all = all_gather(rendezvous, mine, Deadline::in_seconds(5));
    ASSERT_TRUE(all);
    EXPECT_THAT(*all, ElementsAre(std::string("\0\xff"
                                              "0",
                                              3),
                                  std::string("\0\xff"
                                              "1",
                                              3),
                                  std::string("\0\xff"
                                              "2",
                                              3)));
  });
}

TEST(AllGather, NamesTheMissingRankOnEveryRankThatArrived) {
  ThreadGroup group(3);
  group.lose(2);
  on_ranks(group, [](Rendezvous& rendezvous) {
    auto all = all_gather(rendezvous, "x", Deadline::in_seconds(0.5));
    ASSERT_FALSE(all);
    if (rendezvous.rank() == 2) return;
    EXPECT_EQ(all.error().kind, ErrorKind::timeout);
    EXPECT_THAT(all.error().what, HasSubstr("rank 2"));
  });
}

}  // namespace
}  // namespace fabricgate::fabric
