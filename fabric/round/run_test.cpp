#include "fabric/round/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "fabric/round/merge.hpp"
#include "fabric/thread_rendezvous.hpp"
#include "inventory/host/fake_host.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

PairTask loopback_pair(int a, int b, int rails) {
  PairTask task{.a_rank = a, .b_rank = b, .a = "n" + std::to_string(a), .b = "n" + std::to_string(b)};
  for (int rail = 0; rail < rails; ++rail) {
    task.rails.push_back({.name = "rail" + std::to_string(rail),
                          .a_netdev = "lo",
                          .a_address = "127.0.0.2",
                          .b_netdev = "lo",
                          .b_address = "127.0.0.3"});
  }
  return task;
}

RoundOrder quick_order() {
  RoundOrder order;
  order.sizes = {4096, 65536};
  order.seconds = order.overlay_seconds = 0.1;
  order.warmup_s = 0.02;
  order.connect_s = 3;
  order.stall_s = 4;
  order.deadline_s = 15;
  return order;
}

/// Runs the order with one thread per rank and merges what came back.
std::vector<PairSample> run(ThreadGroup& group, const RoundOrder& order, const RoundHooks& hooks = {}) {
  std::vector<std::optional<std::string>> texts(static_cast<std::size_t>(group.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRendezvous rendezvous(group, rank);
      FakeHost host;
      texts[static_cast<std::size_t>(rank)] = share_to_text(run_round(rendezvous, host, order, &hooks));
    });
  }
  for (auto& thread : threads) thread.join();
  return merge_round(order, texts).pairs;
}

/// What one end says it sent is what the other says it got, and the windows are part of it.
void expect_all_moved(const DirectionSample& direction) {
  std::uint64_t measured = 0;
  for (const auto& point : direction.sweep) measured += point.bytes * point.messages;
  EXPECT_EQ(direction.sent_bytes, direction.received_bytes);
  EXPECT_GE(direction.received_bytes, measured);
}

void expect_whole(const PairSample& sample, std::size_t sizes) {
  EXPECT_THAT(sample.error, IsEmpty());
  for (const auto* direction : {&sample.a_to_b, &sample.b_to_a}) {
    EXPECT_THAT(direction->error, IsEmpty());
    ASSERT_EQ(direction->sweep.size(), sizes);
    for (const auto& point : direction->sweep) EXPECT_GT(point.bytes_per_s, 0);
    EXPECT_GT(direction->payload_checked, 0u);
    EXPECT_EQ(direction->payload_errors, 0u) << direction->first_wrong;
    EXPECT_GT(direction->sent_cpu_s_per_byte, 0);
    EXPECT_GT(direction->received_cpu_s_per_byte, 0);
    expect_all_moved(*direction);
  }
  if (!sample.rail.empty()) {
    for (const auto* flows : {&sample.flows_a_to_b, &sample.flows_b_to_a}) {
      EXPECT_EQ(flows->answered, 64u) << flows->first_lost << flows->error;
      EXPECT_GT(flows->segment_bytes, 0u);
    }
  }
  EXPECT_GT(sample.latency_iterations, 0u);
  EXPECT_GT(sample.latency_p50_s, 0);
  EXPECT_GE(sample.latency_p99_s, sample.latency_p50_s);
}

TEST(Round, MeasuresTwoPairsWithTwoRailsAndTheOverlay) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 2), loopback_pair(2, 3, 2)};
  for (auto& task : order.tasks) {
    task.overlay = true;
    task.a_address = "127.0.0.2";
    task.b_address = "127.0.0.3";
  }
  ThreadGroup group(4);
  const auto samples = run(group, order);
  ASSERT_EQ(samples.size(), 6u);
  for (const auto& sample : samples) expect_whole(sample, 2);
  EXPECT_EQ(samples[1].rail, "rail1");
  EXPECT_EQ(samples[2].engine, "tcp");
  EXPECT_EQ(samples[5].b, "n3");
  EXPECT_EQ(samples[0].concurrent_pairs, 2);
}

TEST(Round, BothDirectionsOfARailAreThenMeasuredAtOnce) {
  auto order = quick_order();
  order.both_seconds = 0.1;
  order.tasks = {loopback_pair(0, 1, 2)};
  ThreadGroup group(2);
  const auto samples = run(group, order);
  ASSERT_EQ(samples.size(), 2u);
  for (const auto& sample : samples) {
    expect_whole(sample, 2);
    for (const auto* direction : {&sample.a_to_b_both, &sample.b_to_a_both}) {
      EXPECT_THAT(direction->error, IsEmpty());
      ASSERT_EQ(direction->sweep.size(), 1u);
      expect_all_moved(*direction);
      EXPECT_GT(direction->sweep[0].bytes_per_s, 0);
      EXPECT_GT(direction->payload_checked, 0u);
      EXPECT_EQ(direction->payload_errors, 0u) << direction->first_wrong;
    }
  }
}

TEST(Round, ADirectionThatDiesWithBothRunningIsAnErrorOfBothAndKeepsWhatWasMeasured) {
  auto order = quick_order();
  order.both_seconds = 0.1;
  order.tasks = {loopback_pair(0, 1, 1)};
  ThreadGroup group(2);
  std::atomic<int> last{0};
  const RoundHooks hooks{
      .before_send = [&](const std::string& host, std::byte*, std::size_t bytes, std::uint64_t message) {
        if (host == "n0" && bytes == 65536 && message == 2 && ++last == 2) return Status(Error{ErrorKind::io, "died"});
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  expect_whole(samples.at(0), 2);
  EXPECT_THAT(samples.at(0).a_to_b_both.error, HasSubstr("both directions over rail0"));
  EXPECT_THAT(samples.at(0).b_to_a_both.error, HasSubstr("died"));
}

/// One end takes the connections of the other for those of a stranger.
TEST(Round, ARailOnWhichOneEndTakesNoConnectionIsNotStreamedOver) {
  auto order = quick_order();
  order.connect_s = 1;
  order.tasks = {loopback_pair(0, 1, 1)};
  auto of_b = order;
  of_b.tasks[0].rails[0].a_address = "127.0.0.9";
  ThreadGroup group(2);
  std::vector<std::optional<std::string>> texts(2);
  std::vector<std::thread> threads;
  for (int rank : {0, 1})
    threads.emplace_back([&, rank] {
      ThreadRendezvous rendezvous(group, rank);
      FakeHost host;
      texts[static_cast<std::size_t>(rank)] = share_to_text(run_round(rendezvous, host, rank == 0 ? order : of_b));
    });
  for (auto& thread : threads) thread.join();
  const auto samples = merge_round(order, texts).pairs;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_THAT(samples[0].error, IsEmpty());
  EXPECT_TRUE(samples[0].flows_a_to_b.dead());
  EXPECT_TRUE(samples[0].a_to_b.sweep.empty());
  EXPECT_THAT(samples[0].a_to_b.error, HasSubstr("not streamed over"));
  EXPECT_THAT(samples[0].b_to_a.error, HasSubstr("not streamed over"));
}

TEST(Round, TheConnectionsOfAllRailsMayBeOpenAtOnceWhateverTheSoftLimitOfFilesIs) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 150;  // one end has 129, and both are in this process
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 1)};
  ThreadGroup group(2);
  for (const auto& sample : run(group, order)) expect_whole(sample, 2);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Round, ARankWithoutATaskHasNothingToReport) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 1)};
  ThreadGroup group(3);
  ThreadRendezvous idle(group, 2);
  FakeHost host;
  EXPECT_TRUE(run_round(idle, host, order).halves.empty());
}

TEST(Round, AnInterfaceThatIsMissingAtOneEndIsToldByBothAndTheOtherRailIsMeasured) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 2)};
  order.tasks[0].rails[0].b_netdev = "nosuch0";
  ThreadGroup group(2);
  const auto samples = run(group, order);
  EXPECT_THAT(samples.at(0).error, HasSubstr("nosuch0"));
  EXPECT_EQ(samples.at(0).error_host, "n1");
  expect_whole(samples.at(1), 2);
}

TEST(Round, CorruptedBytesAreCountedAndLocatedOnTheReceiver) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 1)};
  ThreadGroup group(2);
  const RoundHooks hooks{
      .before_send = [](const std::string& host, std::byte* data, std::size_t bytes, std::uint64_t message) {
        if (host == "n0" && bytes == 65536 && message == 3) data[4097] ^= std::byte{0x10};
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  EXPECT_GE(samples.at(0).a_to_b.payload_errors, 1u);
  EXPECT_THAT(samples.at(0).a_to_b.first_wrong, HasSubstr("message 3 of 65536 bytes, byte 4097: expected"));
  EXPECT_EQ(samples.at(0).b_to_a.payload_errors, 0u);
  EXPECT_THAT(samples.at(0).a_to_b.error, IsEmpty());
}

TEST(Round, APeerThatHangsEndsTheDirectionWithAnErrorAndLeavesOtherPairsAlone) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 1), loopback_pair(2, 3, 1)};
  order.stall_s = 1;
  ThreadGroup group(4);
  const RoundHooks hooks{
      .before_send = [](const std::string& host, std::byte*, std::size_t bytes, std::uint64_t message) {
        if (host == "n0" && bytes == 65536 && message == 20)
          std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  EXPECT_THAT(samples.at(0).a_to_b.error, HasSubstr("waiting for messages from n0: nothing for 1.0 s"));
  EXPECT_EQ(samples.at(0).a_to_b.sweep.size(), 1u);
  EXPECT_THAT(samples.at(0).b_to_a.error, HasSubstr("not measured, because a_to_b ended"));
  expect_whole(samples.at(1), 2);
}

TEST(Round, APeerThatDiesMidWayIsAnErrorOfThatDirection) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 1)};
  order.tasks[0].b_first = true;
  ThreadGroup group(2);
  const RoundHooks hooks{
      .before_send = [](const std::string& host, std::byte*, std::size_t bytes, std::uint64_t message) {
        if (host == "n1" && bytes == 4096 && message == 100) return Status(Error{ErrorKind::io, "died"});
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  EXPECT_THAT(samples.at(0).b_to_a.error, HasSubstr("b_to_a over rail0 (n0 lo to n1 lo), 4096-byte messages"));
  EXPECT_THAT(samples.at(0).b_to_a.error, HasSubstr("n1"));
  EXPECT_TRUE(samples.at(0).b_to_a.sweep.empty());
  EXPECT_THAT(samples.at(0).a_to_b.error, HasSubstr("not measured, because b_to_a ended"));
}

TEST(Round, APeerThatNeverArrivesIsAnErrorWithinTheConnectLimit) {
  auto order = quick_order();
  order.connect_s = 0.2;
  order.tasks = {loopback_pair(0, 1, 1)};
  ThreadGroup group(2);
  ThreadRendezvous alone(group, 0);
  FakeHost host;
  const auto halves = run_round(alone, host, order).halves;
  ASSERT_EQ(halves.size(), 1u);
  EXPECT_THAT(halves[0].error, HasSubstr("n1 did not tell its addresses"));
  EXPECT_EQ(halves[0].error_host, "n0");
}

}  // namespace
}  // namespace fabricgate::fabric
