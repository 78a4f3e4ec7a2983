#include "fabric/round/rdma.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "fabric/thread_rendezvous.hpp"
#include "fabric/verbs/fake_verbs.hpp"
#include "inventory/observe/rdma_testing.hpp"

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* address = "172.16.0.3";  // which the entries of add_roce carry

/// Rails over fake0 and fake1, the same at both ends.
PairTask pair_of(int rails) {
  PairTask task{.a_rank = 0, .b_rank = 1, .a = "n1", .b = "n2", .rails = {}, .mode = PairMode::alone};
  for (int i = 0; i < rails; ++i) {
    const std::string number = std::to_string(i);
    task.rails.push_back({.name = "rail" + number,
                          .a_netdev = "ens" + number,
                          .a_address = address,
                          .b_netdev = "ens" + number,
                          .b_address = address,
                          .a_device = "fake" + number,
                          .b_device = "fake" + number,
                          .rate_bytes_per_s = 1e9});
  }
  return task;
}

class RoundRdma : public testing::Test {
 protected:
  void SetUp() override {
    fake_verbs().reset();
    for (auto& device : fake_verbs().devices) device.gid_index = 10;
    for (auto& host : hosts_)
      for (const std::string number : {"0", "1"}) {
        const std::string pci = "0000:1" + number + ":00.0";
        add_function(host, pci, "ens" + number, "mlx5_core");
        add_roce(host, "fake" + number, pci, "ens" + number);
      }
    order_.rdma_seconds = 0.02;
    order_.rdma_round_trips = 50;
    order_.stall_s = 2;
    order_.tasks = {pair_of(2)};
  }
  void TearDown() override {
    EXPECT_EQ(fake_verbs().live, 0);
    EXPECT_EQ(fake_verbs().misuse, 0) << fake_verbs().misused;
  }

  std::vector<VerbsSample> run_end(ThreadGroup& group, bool is_a) {
    ThreadRendezvous rendezvous(group, is_a ? 0 : 1);
    return run_rdma(rendezvous, *used_[is_a ? 0 : 1],
                    {.order = order_, .pair = order_.tasks[0], .is_a = is_a, .deadline = Deadline::in_seconds(60)});
  }
  /// Both ends, which must say the same.
  std::vector<VerbsSample> run() {
    ThreadGroup group(2);
    std::vector<VerbsSample> of_b;
    std::thread other([&] { of_b = run_end(group, false); });
    auto of_a = run_end(group, true);
    other.join();
    EXPECT_EQ(of_a.size(), of_b.size());
    for (std::size_t i = 0; i < of_a.size() && i < of_b.size(); ++i)
      EXPECT_EQ(to_json_value(of_a[i]), to_json_value(of_b[i]));
    return of_a;
  }

  RoundOrder order_;
  FakeHost hosts_[2];
  Host* used_[2] = {&hosts_[0], &hosts_[1]};
};

/// As sysfs of an emulated machine is.
class SlowHost final : public FakeHost {
 public:
  Result<std::string> read(const std::string& path) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return FakeHost::read(path);
  }
};

void expect_whole(const VerbsSample& sample) {
  EXPECT_EQ(sample.failure, VerbsFailure{}) << sample.failure.what;
  ASSERT_EQ(sample.rates.size(), 1u);
  for (const auto* flow : {&sample.rates[0].a_to_b, &sample.rates[0].b_to_a}) {
    EXPECT_GT(flow->bytes_per_s, 0);
    EXPECT_GE(flow->elapsed_s, 0.02);
    EXPECT_GT(flow->cpu_s, 0);
    EXPECT_GT(flow->payload_checked, 0u);
    EXPECT_EQ(flow->payload_errors, 0u) << flow->first_wrong;
  }
  ASSERT_EQ(sample.latencies.size(), 1u);
  EXPECT_EQ(sample.latencies[0].iterations, 44u);
  EXPECT_GT(sample.latencies[0].p50_s, 0);
}

TEST_F(RoundRdma, EveryRailIsMeasuredBothWaysAndSaysHow) {
  const auto samples = run();
  ASSERT_EQ(samples.size(), 2u);
  for (const auto& sample : samples) {
    expect_whole(sample);
    EXPECT_EQ(sample.mode, PairMode::alone);
  }
  EXPECT_EQ(samples[1].rail, "rail1");
  EXPECT_EQ(samples[1].a_end.device, "fake1");
  EXPECT_EQ(samples[1].b_end.gid_index, 10);  // by the address of the rail
}

TEST_F(RoundRdma, ARailOfWhichAnEndDeclaresNoDeviceIsLeftOut) {
  order_.tasks[0].rails[0].b_device.clear();
  const auto samples = run();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].rail, "rail1");
  order_.tasks[0].rails.clear();
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(RoundRdma, ADeviceThatIsMissingAtOneEndIsToldByBothAndTheOtherRailIsMeasured) {
  order_.tasks[0].rails[0].b_device = "mlx5_9";
  const auto samples = run();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].failure.cause, "rdma.device_absent");
  EXPECT_EQ(samples[0].failure.host, "n2");
  expect_whole(samples[1]);
}

TEST_F(RoundRdma, AnEndWithoutTheGidOfTheRailIsTold) {
  hosts_[0].files.erase("/sys/class/infiniband/fake1/ports/1/gids/10");
  const auto samples = run();
  expect_whole(samples.at(0));
  EXPECT_EQ(samples.at(1).failure.cause, "gid.roce_v1");
  EXPECT_EQ(samples.at(1).failure.host, "n1");
}

TEST_F(RoundRdma, WhenADeviceOpensAtOneEndAloneNobodyWaits) {
  hosts_[1].files.erase("/sys/class/infiniband/fake0/ports/1/gids/10");  // b has no port, a opens its own
  const auto samples = run();
  EXPECT_EQ(samples.at(0).failure.host, "n2");
  EXPECT_EQ(samples.at(0).failure.cause, "gid.roce_v1");
  expect_whole(samples.at(1));
}

TEST_F(RoundRdma, AnEndThatIsSlowToFindItsPortIsNotTakenForSilent) {
  SlowHost slow;
  slow.files = hosts_[1].files;
  slow.links = hosts_[1].links;
  used_[1] = &slow;
  order_.stall_s = 0.6;
  for (const auto& sample : run()) expect_whole(sample);
}

TEST_F(RoundRdma, AWrongByteIsCounted) {
  fake_verbs().on_message = [](const FakeMessage& message) {
    if (message.bytes == rdma_bytes) message.data[17] ^= std::byte{1};
    return IBV_WC_SUCCESS;
  };
  for (const auto& sample : run()) {
    EXPECT_EQ(sample.failure.cause, "");
    EXPECT_GT(sample.rates.at(0).a_to_b.payload_errors, 0u);
    EXPECT_THAT(sample.rates.at(0).b_to_a.first_wrong, HasSubstr("byte 17"));
  }
}

TEST_F(RoundRdma, WhatThePeerRefusesAndWhatIsNotAcknowledgedAreToldApart) {
  for (const auto& [status, cause] :
       {std::pair{IBV_WC_REM_ACCESS_ERR, "rdma.remote_access"}, {IBV_WC_RETRY_EXC_ERR, "rdma.not_acknowledged"}}) {
    fake_verbs().on_message = [status = status](const FakeMessage&) { return status; };
    for (const auto& sample : run()) EXPECT_EQ(sample.failure.cause, cause) << sample.failure.what;
  }
}

TEST_F(RoundRdma, AnEngineThatFailsOnEveryRailEndsAndLeavesNothingOpen) {
  fake_verbs().fail = {{VerbsCall::reg_mr, EIO}};
  for (const auto& sample : run()) EXPECT_EQ(sample.failure.cause, "rdma.call_failed");
}

TEST_F(RoundRdma, APeerThatIsSilentIsNamedOnEveryRail) {
  ThreadGroup group(2);
  group.lose(1);
  order_.stall_s = 0.1;
  const auto samples = run_end(group, true);
  ASSERT_EQ(samples.size(), 2u);
  for (const auto& sample : samples) {
    EXPECT_EQ(sample.failure.cause, "launch.rank_silent");
    EXPECT_EQ(sample.failure.host, "n2");
  }
}

TEST(RdmaPlan, IsOneThatTheEngineTakesAndHasMoreUnderWayOnAFasterRail) {
  const RoundOrder order;
  RailEnds rail{.name = "r0", .a_device = "x", .b_device = "x", .rate_bytes_per_s = 2e6};
  const VerbsPlan slow = rdma_plan(order, rail);
  rail.rate_bytes_per_s = 50e9;
  const VerbsPlan fast = rdma_plan(order, rail);
  for (const auto& plan : {slow, fast}) {
    const auto checked = check_plan(plan);
    EXPECT_TRUE(checked) << checked.error().what;
    EXPECT_EQ(plan.steps.at(0).bytes, rdma_bytes);
  }
  EXPECT_EQ(slow.depth, 2u);
  EXPECT_EQ(fast.depth, 64u);
}

}  // namespace
}  // namespace fabricgate::fabric
