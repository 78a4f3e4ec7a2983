#include "fabric/verbs/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "fabric/thread_rendezvous.hpp"
#include "fabric/verbs/fake_verbs.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t contact_messages = 16;  // before every first step: eight each way

VerbsPath path_of(bool is_a) {
  return {.a = "n1",
          .b = "n2",
          .rail = "rail0",
          .is_a = is_a,
          .peer_rank = is_a ? 1 : 0,
          .port = {.device = is_a ? "fake0" : "fake1", .gid_index = 3}};
}

struct Both {
  VerbsSample a, b;
};

class VerbsRun : public testing::Test {
 protected:
  void SetUp() override { fake_verbs().reset(); }
  void TearDown() override {
    EXPECT_EQ(fake_verbs().live, 0);
    EXPECT_EQ(fake_verbs().misuse, 0) << fake_verbs().misused;
  }

  /// Runs both ends as threads; they must agree on every word.
  VerbsSample run(const VerbsPlan& plan) {
    const auto checked = check_plan(plan);
    EXPECT_TRUE(checked) << checked.error().what;
    if (!checked) return {};
    ThreadGroup group(2);
    Both both;
    std::thread other([&] {
      ThreadRendezvous rendezvous(group, 1);
      both.b = run_verbs(rendezvous, b_, plan, Deadline::in_seconds(100));
    });
    ThreadRendezvous rendezvous(group, 0);
    both.a = run_verbs(rendezvous, a_, plan, Deadline::in_seconds(100));
    other.join();
    EXPECT_EQ(to_json_value(both.a), to_json_value(both.b));
    return both.a;
  }

  VerbsPath a_ = path_of(true), b_ = path_of(false);
};

void expect_whole(const VerbsFlow& flow, std::uint64_t messages) {
  EXPECT_EQ(flow.messages, messages);
  EXPECT_GT(flow.bytes_per_s, 0);
  EXPECT_GT(flow.payload_checked, 0u);
  EXPECT_EQ(flow.payload_errors, 0u) << flow.first_wrong;
}

TEST_F(VerbsRun, EveryOperationCarriesEverySizeBothWays) {
  VerbsPlan plan;
  for (const auto operation : {Operation::write, Operation::write_imm, Operation::read, Operation::send})
    for (const std::uint64_t bytes : {1, 2, 63, 64, 65, 4096, 100000})
      plan.steps.push_back({.operation = operation, .bytes = bytes, .messages = 300});
  const auto sample = run(plan);
  EXPECT_EQ(sample.failure.cause, "") << sample.failure.what;
  ASSERT_EQ(sample.rates.size(), plan.steps.size());
  for (const auto& rate : sample.rates) {
    SCOPED_TRACE(std::string(to_string(rate.operation)) + " " + std::to_string(rate.bytes));
    expect_whole(rate.a_to_b, 300);
    expect_whole(rate.b_to_a, 300);
  }
  EXPECT_EQ(sample.path_mtu_bytes, 4096u);
  EXPECT_THAT(sample.a_end.memory, HasSubstr("host memory"));
  EXPECT_EQ(sample.b_end.device, "fake1");
}

TEST_F(VerbsRun, SeveralQueuePairsListsModerationAndInlineGoTogether) {
  for (const std::uint64_t qps : {1, 3})
    for (const std::uint64_t list : {1, 3, 16})
      for (const std::uint64_t moderation : {1, 5, 64}) {
        fake_verbs().reset();
        VerbsPlan plan{.qps = qps,
                       .depth = 64,
                       .post_list = list,
                       .moderation = moderation,
                       .inline_bytes = 32,
                       .cycle_bytes = 1024};
        for (const auto operation : {Operation::write, Operation::write_imm, Operation::read, Operation::send})
          plan.steps.push_back({.operation = operation, .bytes = 24, .both = true, .messages = 480});
        const auto sample = run(plan);
        SCOPED_TRACE(step_text(plan, plan.steps[0]) + " " + std::to_string(list) + " " + std::to_string(moderation));
        ASSERT_EQ(sample.rates.size(), 4u) << sample.failure.what;
        for (const auto& rate : sample.rates) {
          expect_whole(rate.a_to_b, 480 * qps);
          expect_whole(rate.b_to_a, 480 * qps);
          EXPECT_EQ(rate.a_to_b.payload_checked, 16 * qps);
        }
        EXPECT_EQ(fake_verbs().misuse, 0) << fake_verbs().misused;
      }
}

TEST_F(VerbsRun, AListIsOneCallAndOneCompletionStandsForMany) {
  VerbsPlan plan{.steps = {{.bytes = 8, .messages = 6400}}, .depth = 128, .post_list = 64, .moderation = 128};
  (void)run(plan);
  const std::uint64_t contact_posts = contact_messages / 8, messages = 2 * 6400;  // a list is posted whole
  EXPECT_LE(fake_verbs().posts, messages / 64 + contact_posts + 4);
  EXPECT_LE(fake_verbs().completions, messages / 128 + contact_messages);
}

TEST_F(VerbsRun, OneWayAloneLeavesTheOtherEmpty) {
  const auto sample = run({.steps = {{.bytes = 64, .b_to_a = false, .messages = 100},
                                     {.operation = Operation::read, .bytes = 64, .a_to_b = false, .messages = 100}}});
  ASSERT_EQ(sample.rates.size(), 2u) << sample.failure.what;
  expect_whole(sample.rates[0].a_to_b, 100);
  EXPECT_EQ(sample.rates[0].b_to_a.messages, 0u);
  expect_whole(sample.rates[1].b_to_a, 100);
  EXPECT_EQ(sample.rates[1].a_to_b.messages, 0u);
}

TEST_F(VerbsRun, MarginsAreNotCounted) {
  VerbsPlan plan{.steps = {{.bytes = 64, .messages = 1000, .margin_messages = 200}}, .moderation = 100};
  const auto sample = run(plan);
  ASSERT_EQ(sample.rates.size(), 1u) << sample.failure.what;
  EXPECT_EQ(sample.rates[0].a_to_b.messages, 600u);
}

TEST_F(VerbsRun, RunsForATimeAndTellsTheReceiverWhichMessageIsTheLast) {
  VerbsPlan plan{.qps = 2};
  for (const auto operation : {Operation::write, Operation::write_imm, Operation::read, Operation::send})
    plan.steps.push_back({.operation = operation, .bytes = 4096, .seconds = 0.02, .margin_s = 0.005});
  const auto sample = run(plan);
  ASSERT_EQ(sample.rates.size(), 4u) << sample.failure.what;
  for (const auto& rate : sample.rates) {
    EXPECT_GE(rate.a_to_b.elapsed_s, 0.02);
    EXPECT_GT(rate.b_to_a.messages, 0u);
    EXPECT_EQ(rate.a_to_b.payload_errors, 0u);
  }
}

TEST_F(VerbsRun, LatencyOfWriteAndSendCountsHalfRoundTrips) {
  VerbsPlan plan{.depth = 8, .moderation = 8, .inline_bytes = 16};
  for (const auto operation : {Operation::write, Operation::send})
    for (const std::uint64_t bytes : {1, 16, 17, 4096})
      plan.steps.push_back({.operation = operation, .latency = true, .bytes = bytes, .messages = 100});
  const auto sample = run(plan);
  ASSERT_EQ(sample.latencies.size(), 8u) << sample.failure.what;
  for (const auto& latency : sample.latencies) {
    EXPECT_EQ(latency.iterations, 89u);  // the first tenth warms up
    EXPECT_GT(latency.min_s, 0);
    EXPECT_LE(latency.min_s, latency.p50_s);
    EXPECT_LE(latency.p50_s, latency.p99_s);
    EXPECT_LE(latency.p999_s, latency.max_s);
  }
}

TEST_F(VerbsRun, TheMtuOfThePathIsTheSmallerOne) {
  fake_verbs().devices[1].mtu = IBV_MTU_1024;
  EXPECT_EQ(run({.steps = {{.bytes = 64, .messages = 10}}}).path_mtu_bytes, 1024u);
}

TEST_F(VerbsRun, AWrongByteIsFoundAndCounted) {
  fake_verbs().on_message = [](const FakeMessage& message) {
    if (message.bytes == 4096) message.data[100] ^= std::byte{1};
    return IBV_WC_SUCCESS;
  };
  for (const auto operation : {Operation::write, Operation::write_imm, Operation::read, Operation::send}) {
    const auto sample = run({.steps = {{.operation = operation, .bytes = 4096, .messages = 10}}});
    ASSERT_EQ(sample.rates.size(), 1u) << sample.failure.what;
    EXPECT_EQ(sample.rates[0].a_to_b.payload_errors, 1u);
    EXPECT_THAT(sample.rates[0].b_to_a.first_wrong, HasSubstr("qp 0, slot 0, byte 100"));
  }
}

TEST_F(VerbsRun, AWrongRemoteKeyIsRefusedByThePeer) {
  a_.on_peer = [](EndInfo& peer) { peer.rkey ^= 0x5555; };
  const auto sample = run({.steps = {{.bytes = 64, .messages = 10}}, .stall_s = 0.5});
  EXPECT_EQ(sample.failure.cause, "rdma.remote_access");
  EXPECT_EQ(sample.failure.host, "n1");
  EXPECT_EQ(sample.failure.native, IBV_WC_REM_ACCESS_ERR);
  EXPECT_GT(sample.failure.echoes, 0u);
  EXPECT_THAT(sample.failure.what, HasSubstr("device fake0, port 1, qp 0x"));
}

TEST_F(VerbsRun, TheFirstCompletionCountsWhateverTheOtherEndSawAfterIt) {
  for (const auto operation : {Operation::write, Operation::write_imm, Operation::read, Operation::send}) {
    fake_verbs().reset();
    fake_verbs().on_message = [](const FakeMessage& message) {
      return message.number == contact_messages + 50 ? IBV_WC_REM_OP_ERR : IBV_WC_SUCCESS;
    };
    const auto sample = run(
        {.steps = {{.operation = operation, .bytes = 64, .both = true, .messages = 1000}}, .qps = 2, .stall_s = 0.5});
    EXPECT_EQ(sample.failure.cause, "rdma.remote_fault") << to_string(operation) << ": " << sample.failure.what;
    EXPECT_EQ(sample.failure.step, std::string(to_string(operation)) + " both ways, 64 bytes, 2 qps");
  }
}

TEST_F(VerbsRun, WhenOnlyLargeMessagesAreLostTheMtuOfThePathIsToBlame) {
  fake_verbs().on_message = [](const FakeMessage& message) {
    return message.bytes > 1024 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
  };
  const auto sample = run({.steps = {{.bytes = 64, .messages = 10}, {.bytes = 65536, .messages = 10}}});
  EXPECT_EQ(sample.failure.cause, "pair.mtu_path");
  EXPECT_EQ(sample.rates.size(), 1u);
}

TEST_F(VerbsRun, WhenNothingGetsThroughAnyMoreTheMtuIsNot) {
  fake_verbs().on_message = [](const FakeMessage& message) {
    return message.number > 100 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
  };
  const auto sample = run({.steps = {{.bytes = 65536, .messages = 1000}}});
  EXPECT_EQ(sample.failure.cause, "rdma.not_acknowledged");
}

TEST_F(VerbsRun, AnEndThatCannotBeOpenedIsToldToBoth) {
  b_.port.device = "mlx5_9";
  auto sample = run({.steps = {{.bytes = 64, .messages = 10}}});
  EXPECT_EQ(sample.failure.cause, "rdma.device_absent");
  EXPECT_EQ(sample.failure.host, "n2");
  b_.no_port = VerbsFailure{.cause = "gid.roce_v1", .what = "GID table"};
  sample = run({.steps = {{.bytes = 64, .messages = 10}}});
  EXPECT_EQ(sample.failure.cause, "gid.roce_v1");
}

TEST_F(VerbsRun, EveryCallThatFailsEndsItAndLeavesNothingOpen) {
  for (int call = 0; call <= static_cast<int>(VerbsCall::post_recv); ++call) {
    if (call == static_cast<int>(VerbsCall::allocate)) continue;
    fake_verbs().reset();
    fake_verbs().fail = {{static_cast<VerbsCall>(call), EIO}};
    const auto sample = run({.steps = {{.operation = Operation::send, .bytes = 64, .messages = 10}}, .stall_s = 0.5});
    const bool only_receives = call == static_cast<int>(VerbsCall::post_recv);
    EXPECT_EQ(sample.failure.cause, cause_of(static_cast<VerbsCall>(call), EIO)) << call << ": " << sample.failure.what;
    EXPECT_EQ(sample.failure.step.empty(), !only_receives) << call;  // receives are posted first in the step
    EXPECT_EQ(fake_verbs().live, 0) << call;
  }
}

TEST_F(VerbsRun, MoreInlineThanTheAdapterHasIsALimitOfTheAdapter) {
  EXPECT_EQ(run({.steps = {{.bytes = 64, .messages = 10}}, .inline_bytes = 65}).failure.cause, "rdma.adapter_limit");
}

TEST_F(VerbsRun, APeerThatIsSilentIsNamed) {
  ThreadGroup group(2);
  group.lose(1);
  ThreadRendezvous rendezvous(group, 0);
  const auto sample = run_verbs(rendezvous, a_, {.steps = {{.bytes = 64, .messages = 10}}}, Deadline::in_seconds(0.1));
  EXPECT_EQ(sample.failure.cause, "launch.rank_silent");
  EXPECT_EQ(sample.failure.host, "n2");
}

TEST_F(VerbsRun, WhenNothingMovesItEndsAndSaysSo) {
  VerbsPlan plan{.steps = {{.operation = Operation::send, .bytes = 64, .messages = 1000}}, .stall_s = 0.2};
  // the message with the mark of the last does not come, and its sender saw no error of its own
  fake_verbs().on_message = [](const FakeMessage& message) {
    return message.opcode == IBV_WR_SEND_WITH_IMM ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS;
  };
  const auto sample = run(plan);
  EXPECT_EQ(sample.failure.cause, "rdma.stalled");
  EXPECT_EQ(sample.failure.host, "n2");
  EXPECT_THAT(sample.failure.what, HasSubstr("send, 64 bytes, 1 qp: nothing completed for 0.2 s"));
}

}  // namespace
}  // namespace fabricgate::fabric
