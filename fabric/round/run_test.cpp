#include "fabric/round/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "fabric/round/round_testing.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
