#include "fabric/round/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

PairTask one_task() {
  return {.a_rank = 0, .b_rank = 1, .a = "n1", .b = "n2", .rails = {{.name = "r0"}}, .mode = PairMode::alone};
}

PairSample half(double a_to_b, double b_to_a) {
  PairSample sample{.a = "n1", .b = "n2", .rail = "r0", .engine = "ucx-tcp", .mode = PairMode::alone};
  if (a_to_b > 0) sample.a_to_b.sweep = {{.bytes = 64, .bytes_per_s = a_to_b, .messages = 2, .elapsed_s = 1}};
  if (b_to_a > 0) sample.b_to_a.sweep = {{.bytes = 64, .bytes_per_s = b_to_a, .messages = 2, .elapsed_s = 1}};
  return sample;
}

TEST(MergeHalves, TakesEachDirectionFromItsReceiverAndTheLatencyFromA) {
  auto a = half(0, 200), b = half(100, 0);
  a.latency_p50_s = 1e-5;
  a.latency_iterations = 50;
  b.latency_p50_s = 9;
  const auto merged = merge_halves(one_task(), a, b);
  EXPECT_EQ(merged.a_to_b.sweep.at(0).bytes_per_s, 100);
  EXPECT_EQ(merged.b_to_a.sweep.at(0).bytes_per_s, 200);
  EXPECT_EQ(merged.latency_p50_s, 1e-5);
  EXPECT_EQ(merged.mode, PairMode::alone);
  EXPECT_EQ(merged.error, "");
}

TEST(MergeHalves, SegmentsAreCountedBySendersAndBothDirectionsAtOnceByReceivers) {
  auto a = half(0, 200), b = half(100, 0);
  a.a_to_b.segments = 40;
  a.a_to_b.retransmitted = 3;
  a.a_to_b.sent_cpu_s_per_byte = 1e-9;
  b.a_to_b.received_cpu_s_per_byte = 2e-9;
  b.a_to_b.longest_gap_s = 0.2;
  b.a_to_b_both.sweep = a.b_to_a.sweep;
  const auto merged = merge_halves(one_task(), a, b);
  EXPECT_EQ(merged.a_to_b.segments, 40u);
  EXPECT_EQ(merged.a_to_b.retransmitted, 3u);
  EXPECT_EQ(merged.a_to_b.longest_gap_s, 0.2);
  EXPECT_EQ(merged.a_to_b.sent_cpu_s_per_byte, 1e-9);
  EXPECT_EQ(merged.a_to_b.received_cpu_s_per_byte, 2e-9);
  EXPECT_EQ(merged.a_to_b_both.sweep.size(), 1u);
  EXPECT_TRUE(merged.b_to_a_both.sweep.empty());
}

TEST(MergeHalves, ConnectionsAreThoseOfWhoDialled) {
  auto a = half(0, 200), b = half(100, 0);
  a.flows_a_to_b = {.dialled = 64, .answered = 64, .segment_bytes = 8948};
  b.flows_b_to_a = {.dialled = 64, .answered = 1, .segment_bytes = 588};
  b.flows_a_to_b.dialled = 7;
  const auto merged = merge_halves(one_task(), a, b);
  EXPECT_EQ(merged.flows_a_to_b.answered, 64u);
  EXPECT_EQ(merged.flows_a_to_b.dialled, 64u);
  EXPECT_EQ(merged.flows_b_to_a.answered, 1u);
  EXPECT_EQ(merged.flows_b_to_a.segment_bytes, 588u);
}

TEST(MergeHalves, AMissingEndIsAnErrorOfTheDirectionItReceived) {
  const auto merged = merge_halves(one_task(), half(0, 200), std::nullopt);
  EXPECT_THAT(merged.a_to_b.error, HasSubstr("n2 reported nothing"));
  EXPECT_EQ(merged.b_to_a.error, "");
}

TEST(MergeHalves, ASendersErrorIsKeptWhenTheReceiverSawNone) {
  auto a = half(0, 200), b = half(100, 0);
  a.a_to_b.error = "send broke";
  EXPECT_EQ(merge_halves(one_task(), a, b).a_to_b.error, "send broke");
  b.a_to_b.error = "nothing arrived";
  EXPECT_EQ(merge_halves(one_task(), a, b).a_to_b.error, "nothing arrived");
}

TEST(MergeHalves, SaysWhichEndFailedToSetUp) {
  auto a = half(0, 0), b = half(0, 0);
  a.error = b.error = "no interface";
  a.error_host = b.error_host = "n2";
  auto merged = merge_halves(one_task(), a, b);
  EXPECT_EQ(merged.error, "no interface");
  EXPECT_EQ(merged.error_host, "n2");
  a.error_host = "n1", a.error = "other";
  merged = merge_halves(one_task(), a, b);
  EXPECT_THAT(merged.error, HasSubstr("n1: other; n2: no interface"));
  EXPECT_EQ(merged.error_host, "");
}

TEST(MergeRound, GivesEveryExpectedSampleAndNamesTheRankThatDidNotArrive) {
  RoundOrder order;
  order.tasks = {one_task()};
  order.tasks[0].overlay = true;
  const auto samples = merge_round(order, {share_to_text({{half(0, 200)}, {}}), std::nullopt}).pairs;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].rail, "r0");
  EXPECT_EQ(samples[1].engine, "tcp");
  for (const auto& sample : samples) {
    EXPECT_EQ(sample.error_host, "n2");
    EXPECT_THAT(sample.error, HasSubstr("did not arrive"));
  }
  EXPECT_EQ(samples[0].b_to_a.sweep.at(0).bytes_per_s, 200);
}

TEST(MergeRound, GarbageFromARankIsAnErrorOfThatRank) {
  RoundOrder order;
  order.tasks = {one_task()};
  const auto samples = merge_round(order, {std::string("{torn"), share_to_text({{half(100, 0)}, {}})}).pairs;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].error_host, "n1");
  EXPECT_THAT(samples[0].error, HasSubstr("not JSON"));
  EXPECT_EQ(samples[0].a_to_b.sweep.at(0).bytes_per_s, 100);
}

PairTask rdma_task() {
  PairTask task = one_task();
  task.rails[0].a_device = task.rails[0].b_device = "mlx5_0";
  return task;
}

VerbsSample rdma_of(const std::string& cause, const std::string& host) {
  VerbsSample sample{.a = "n1", .b = "n2", .rail = "r0"};
  sample.failure = {.host = host, .cause = cause};
  return sample;
}

/// What is made of what a and b say.
VerbsSample merged_rdma(const std::optional<RoundShare>& a, const std::optional<RoundShare>& b) {
  RoundOrder order;
  order.tasks = {rdma_task()};
  const auto text = [](const std::optional<RoundShare>& share) {
    return share ? std::optional(share_to_text(*share)) : std::nullopt;
  };
  const auto samples = merge_round(order, {text(a), text(b)});
  EXPECT_EQ(samples.rdma.size(), 1u);
  EXPECT_EQ(samples.rdma.at(0).mode, PairMode::alone);
  EXPECT_EQ(samples.pairs.at(0).rdma_skipped, "");
  return samples.rdma.at(0);
}

TEST(MergeRdma, WhatAnEndSaysComesBeforeTheSilenceTheOtherMet) {
  const RoundShare good{{}, {rdma_of("", "")}}, silence{{}, {rdma_of("launch.rank_silent", "n2")}};
  const RoundShare failed{{}, {rdma_of("gid.roce_v1", "n2")}};
  EXPECT_EQ(merged_rdma(good, good).failure.cause, "");
  EXPECT_EQ(merged_rdma(failed, failed).failure.cause, "gid.roce_v1");
  EXPECT_EQ(merged_rdma(silence, failed).failure.cause, "gid.roce_v1");
  EXPECT_EQ(merged_rdma(failed, silence).failure.cause, "gid.roce_v1");
  EXPECT_EQ(merged_rdma(good, silence).failure.cause, "launch.rank_silent");
  EXPECT_EQ(merged_rdma(silence, good).failure.cause, "launch.rank_silent");
}

TEST(MergeRdma, AnEndThatIsGoneOrSaysNothingOfItIsNamed) {
  const RoundShare good{{}, {rdma_of("", "")}}, nothing;
  for (const auto& end : {std::optional<RoundShare>(), std::optional(nothing)}) {
    EXPECT_EQ(merged_rdma(end, good).failure.host, "n1");
    EXPECT_EQ(merged_rdma(good, end).failure.host, "n2");
    EXPECT_EQ(merged_rdma(good, end).failure.cause, "launch.rank_silent");
  }
  EXPECT_THAT(merged_rdma(good, std::nullopt).failure.what, HasSubstr("n2 did not arrive"));
}

TEST(MergeRdma, ARailWithoutItHasNoSampleAndSaysWhy) {
  RoundOrder order;
  order.tasks = {rdma_task()};
  order.tasks[0].rails[0].b_device.clear();
  const RoundShare good{{}, {rdma_of("", "")}};
  const auto samples = merge_round(order, {share_to_text(good), share_to_text(good)});
  EXPECT_TRUE(samples.rdma.empty());
  EXPECT_EQ(samples.pairs.at(0).rdma_skipped, "n2 declares no RDMA device for it");
}

TEST(RoundShare, SurvivesTheWayThroughText) {
  auto share = share_from_text(share_to_text({{half(1, 2), half(3, 4)}, {rdma_of("gid.roce_v1", "n2")}}));
  ASSERT_TRUE(share);
  EXPECT_EQ(share->halves.at(1).a_to_b.sweep.at(0).bytes_per_s, 3);
  EXPECT_EQ(share->rdma.at(0).failure.host, "n2");
  EXPECT_FALSE(share_from_text("{\"halves\": []}"));
  EXPECT_FALSE(share_from_text("{\"halves\": [], \"rdma\": [{}]}"));
}

}  // namespace
}  // namespace fabricgate::fabric
