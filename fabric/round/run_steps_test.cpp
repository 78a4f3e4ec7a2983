// What the ends of a pair agree on between the steps of a round.
#include <atomic>

#include "fabric/round/round_testing.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(Round, ARailOnWhichNoFullSizeSegmentOfOneEndPassesIsNotStreamedOverAndTheOtherIs) {
  auto order = quick_order();
  order.tasks = {loopback_pair(0, 1, 2)};
  ThreadGroup group(2);
  const RoundHooks hooks{.after_flows = [](const std::string& host, const std::string& rail, FlowCount& dialled) {
    if (host == "n1" && rail == "rail0") dialled.blocked = dialled.answered;
  }};
  const auto samples = run(group, order, hooks);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_THAT(samples[0].error, IsEmpty());
  for (const auto* direction : {&samples[0].a_to_b, &samples[0].b_to_a}) {
    EXPECT_EQ(direction->error, "not streamed over, because no full-size segment passes on any connection");
    EXPECT_TRUE(direction->sweep.empty());
  }
  EXPECT_EQ(samples[0].flows_a_to_b.blocked, 0u);
  EXPECT_EQ(samples[0].flows_b_to_a.blocked, 64u);
  expect_whole(samples[1], 2);
}

/// n1 gives up a second after the last message, n0 is in its step for two and a half.
TEST(Round, AnEndThatLeavesTheRailsLateFindsTheOverlayAsItIs) {
  auto order = quick_order();
  order.connect_s = 0.5;
  order.stall_s = 1;
  order.tasks = {loopback_pair(0, 1, 1)};
  order.tasks[0].overlay = true;
  order.tasks[0].a_address = "127.0.0.2";
  order.tasks[0].b_address = "127.0.0.3";
  ThreadGroup group(2);
  std::atomic<bool> first{true};  // the overlay has as many messages
  const RoundHooks hooks{
      .before_send = [&](const std::string& host, std::byte*, std::size_t bytes, std::uint64_t message) {
        if (host == "n0" && bytes == 65536 && message == 20 && first.exchange(false))
          std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        return Status();
      }};
  const auto samples = run(group, order, hooks);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_THAT(samples[0].a_to_b.error, HasSubstr("nothing for 1.0 s"));
  expect_whole(samples[1], 2);
}

}  // namespace
}  // namespace fabricgate::fabric
