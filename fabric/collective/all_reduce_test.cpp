#include "fabric/collective/all_reduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "fabric/collective/neighbours.hpp"
#include "fabric/thread_rendezvous.hpp"

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CollectiveOrder loopback_order(int ranks, int rails) {
  CollectiveOrder order;
  for (int rank = 0; rank < ranks; ++rank) {
    order.ranks.push_back(rank);
    order.hosts.push_back("n" + std::to_string(rank));
  }
  for (int rail = 0; rail < rails; ++rail) {
    order.rails.push_back(
        {.name = "rail" + std::to_string(rail), .netdevs = std::vector<std::string>(order.ranks.size(), "lo")});
  }
  // 40 KB and 5 elements: chunks of unequal and of no length
  order.steps = {{20, Algorithm::ring},
                 {40004, Algorithm::recursive_doubling},
                 {40004, Algorithm::ring},
                 {6 << 20, Algorithm::ring}};
  order.iterations = 2;
  order.warmups = 1;
  order.deadline_s = 30;
  return order;
}

std::vector<CollectiveSample> run(ThreadGroup& group, const CollectiveOrder& order, const CollectiveHooks& hooks = {}) {
  std::vector<CollectiveSample> samples(static_cast<std::size_t>(group.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRendezvous rendezvous(group, rank);
      samples[static_cast<std::size_t>(rank)] = run_all_reduce(rendezvous, order, &hooks);
    });
  }
  for (auto& thread : threads) thread.join();
  return samples;
}

void expect_whole(const CollectiveSample& sample, const CollectiveOrder& order) {
  EXPECT_THAT(sample.error, IsEmpty());
  EXPECT_THAT(sample.missing, IsEmpty());
  ASSERT_EQ(sample.points.size(), order.steps.size());
  for (const auto& point : sample.points) EXPECT_GT(point.busbw_bytes_per_s, 0);
  EXPECT_EQ(sample.rank_elapsed_s.size(), order.ranks.size());
  std::uint64_t elements = 0;
  for (const auto& step : order.steps) elements += step.bytes / 4 * 3 * order.ranks.size();
  EXPECT_EQ(sample.elements_checked, elements);
  EXPECT_EQ(sample.elements_wrong, 0u) << sample.first_wrong;
  std::uint64_t sent = 0, received = 0, least = 0;
  for (const auto& moved : sample.moved) sent += moved.sent_bytes, received += moved.received_bytes;
  for (const auto& step : order.steps) least += 2 * (order.ranks.size() - 1) * step.bytes * 3;
  EXPECT_EQ(sample.moved.size(), order.ranks.size() * order.rails.size());
  EXPECT_EQ(sent, received);
  EXPECT_GE(sent, least);
}

class AnyNumberOfRanks : public testing::TestWithParam<int> {};

TEST_P(AnyNumberOfRanks, ReducesRightWithBothAlgorithmsAndEveryRankHasTheSameSample) {
  const auto order = loopback_order(GetParam(), 2);
  ThreadGroup group(GetParam());
  const auto samples = run(group, order);
  for (const auto& sample : samples) expect_whole(sample, order);
  EXPECT_EQ(to_json_value(samples.front()), to_json_value(samples.back()));
}

INSTANTIATE_TEST_SUITE_P(Counts, AnyNumberOfRanks, testing::Values(2, 3, 4, 5, 6, 7));

TEST(AllReduce, RunsOverAPartOfTheRanksAndWithoutRankZero) {
  auto order = loopback_order(3, 1);
  order.ranks = {3, 1, 4};
  ThreadGroup group(5);
  const auto samples = run(group, order);
  expect_whole(samples[0], order);
  EXPECT_EQ(samples[0].rail, "rail0");
}

TEST(AllReduce, AWrongInputIsFoundOnEveryRankAndLocated) {
  const auto order = loopback_order(3, 1);
  ThreadGroup group(3);
  const CollectiveHooks hooks{
      .before_iteration = [](const std::string& host, float* data, std::size_t count, int iteration) {
        if (host == "n1" && count == 10001 && iteration == 1) data[4321] += 1;
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  EXPECT_EQ(samples[0].elements_wrong, 6u);  // two steps of that size, three ranks
  EXPECT_THAT(samples[0].first_wrong, HasSubstr("host n0 element 4321: expected"));
  EXPECT_THAT(samples[0].error, IsEmpty());
}

TEST(AllReduce, ARankThatDoesNotArriveIsMissing) {
  auto order = loopback_order(3, 1);
  order.connect_s = 0.5;
  ThreadGroup group(3);
  group.lose(2);
  const auto samples = run(group, order);
  for (const int rank : {0, 1}) {
    EXPECT_THAT(samples[static_cast<std::size_t>(rank)].missing, ElementsAre("n2"));
    EXPECT_THAT(samples[static_cast<std::size_t>(rank)].error, HasSubstr("n2: did not arrive"));
  }
}

TEST(AllReduce, ARankThatHangsIsMissingAndItsNeighbourSaysForWhomItWaited) {
  auto order = loopback_order(4, 1);
  order.stall_s = 1;
  order.connect_s = 3;
  ThreadGroup group(4);
  const CollectiveHooks hooks{
      .before_iteration = [](const std::string& host, float*, std::size_t count, int iteration) {
        if (host == "n2" && count == 10001 && iteration == 0) std::this_thread::sleep_for(std::chrono::seconds(6));
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  EXPECT_THAT(samples[0].missing, ElementsAre("n2"));
  EXPECT_THAT(samples[0].error, HasSubstr("n2 did not report"));
  EXPECT_THAT(samples[0].error, HasSubstr("waited for n2 over rail0"));
  EXPECT_EQ(samples[0].rank_elapsed_s.size(), 0u);
}

TEST(AllReduce, AnInterfaceThatDoesNotExistIsAnErrorOfThatHost) {
  auto order = loopback_order(2, 1);
  order.rails[0].netdevs[1] = "nosuch0";
  ThreadGroup group(2);
  const auto samples = run(group, order);
  EXPECT_THAT(samples[0].error, HasSubstr("n1: rail0: "));
  EXPECT_THAT(samples[0].error, HasSubstr("nosuch0"));
  EXPECT_THAT(samples[0].missing, IsEmpty());
}

TEST(Doubling, EveryParticipantMeetsAPartnerThatMeetsIt) {
  for (int n = 2; n < 40; ++n) {
    const Doubling plan(n);
    EXPECT_EQ((1 << plan.rounds) + plan.extra, n);
    for (int self = 0; self < n; ++self) {
      if (plan.number(self) < 0) continue;
      EXPECT_EQ(plan.participant(plan.number(self)), self);
      for (int round = 0; round < plan.rounds; ++round) {
        const int peer = plan.partner(self, round);
        EXPECT_EQ(plan.partner(peer, round), self);
        EXPECT_THAT(neighbours_of(self, n), testing::Contains(peer));
      }
    }
  }
}

}  // namespace
}  // namespace fabricgate::fabric
