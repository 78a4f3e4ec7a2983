#pragma once
/// Rounds of threads over the loopback interface, for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fabric/round/merge.hpp"
#include "fabric/round/run.hpp"
#include "fabric/thread_rendezvous.hpp"
#include "inventory/host/fake_host.hpp"

namespace fabricgate::fabric {

inline PairTask loopback_pair(int a, int b, int rails) {
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

inline RoundOrder quick_order() {
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
inline std::vector<PairSample> run(ThreadGroup& group, const RoundOrder& order, const RoundHooks& hooks = {}) {
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
inline void expect_all_moved(const DirectionSample& direction) {
  std::uint64_t measured = 0;
  for (const auto& point : direction.sweep) measured += point.bytes * point.messages;
  EXPECT_EQ(direction.sent_bytes, direction.received_bytes);
  EXPECT_GE(direction.received_bytes, measured);
}

inline void expect_whole(const PairSample& sample, std::size_t sizes) {
  EXPECT_THAT(sample.error, testing::IsEmpty());
  for (const auto* direction : {&sample.a_to_b, &sample.b_to_a}) {
    EXPECT_THAT(direction->error, testing::IsEmpty());
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

}  // namespace fabricgate::fabric
