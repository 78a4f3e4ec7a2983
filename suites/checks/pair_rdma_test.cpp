/// RDMA between two nodes: which sample is good, which is a fault and of whom, and which is no evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fabric/verbs/verbs_sample.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using fabric::VerbsSample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The record of n0001 and n0002 on rail0, its sample changed, as its judge sees it.
Record judged_with(const std::function<void(VerbsSample&)>& edit) {
  for (const Record& record : good().records) {
    if (record.check != "pair.rdma" || record.hosts != std::vector<std::string>{"n0001", "n0002"}) continue;
    Record changed = record;
    auto sample = fabric::verbs_sample_from_json(record.sample);
    EXPECT_TRUE(sample);
    edit(*sample);
    changed.sample = to_json_value(*sample);
    return judged({good().inventory, good().limits}, std::move(changed));
  }
  ADD_FAILURE() << "no pair.rdma in the good run";
  return {};
}

std::vector<std::string> told(const Record& record) {
  std::vector<std::string> out;
  for (const Finding& finding : record.findings) out.push_back(finding.cause + " " + to_string(finding.subject));
  return out;
}

void fail(VerbsSample& sample, const std::string& cause, const std::string& host) {
  sample.failure = {.host = host, .cause = cause, .what = "it did not work", .step = "write, 65536 bytes, 1 qp"};
}

TEST(PairRdma, AWholeSampleAtTheDeclaredRatePasses) {
  const Record record = judged_with([](VerbsSample&) {});
  EXPECT_EQ(record.verdict, Verdict::pass) << record.reason;
  EXPECT_THAT(record.findings, IsEmpty());
}

TEST(PairRdma, AFailureOfThePathNamesBothEndsAndWhatItWasDoing) {
  const Record record = judged_with([](VerbsSample& sample) { fail(sample, "rdma.remote_access", "n0002"); });
  EXPECT_EQ(record.verdict, Verdict::fail);
  EXPECT_THAT(told(record), ElementsAre("rdma.remote_access n0002 rail0 mlx5_0 <-> n0001"));
  EXPECT_EQ(record.findings[0].found, "write, 65536 bytes, 1 qp: it did not work");
}

TEST(PairRdma, AnEndThatCouldNotBeOpenedIsNamedAlone) {
  const Record record = judged_with([](VerbsSample& sample) {
    sample = {.a = sample.a, .b = sample.b, .rail = sample.rail};
    fail(sample, "gid.roce_v1", "n0002");
  });
  EXPECT_THAT(told(record), ElementsAre("gid.roce_v1 n0002 rail0 mlx5_0"));
}

TEST(PairRdma, AFailureIsNeverLessThanAFailWhateverItsCauseUsuallyIs) {
  const Record record = judged_with([](VerbsSample& sample) { fail(sample, "rdma.function_unused", "n0001"); });
  EXPECT_EQ(record.verdict, Verdict::fail);
}

TEST(PairRdma, WrongBytesASlowDirectionAndLatencyAreFaultsWithTheirLimit) {
  Record record = judged_with([](VerbsSample& sample) {
    sample.rates[0].b_to_a.payload_errors = 1;
    sample.rates[0].b_to_a.first_wrong = "qp 0, slot 1, byte 2: expected 0x01, found 0x02";
  });
  EXPECT_THAT(told(record), ElementsAre("bench.data_wrong n0002 rail0 mlx5_0 tx <-> n0001"));
  record = judged_with([](VerbsSample& sample) {
    sample.rates[0].a_to_b.bytes_per_s /= 2;
    sample.rates[0].a_to_b.elapsed_s *= 2;
  });
  EXPECT_THAT(told(record), ElementsAre("rdma.below_floor n0001 rail0 mlx5_0 tx <-> n0002"));
  EXPECT_THAT(record.findings[0].limit, HasSubstr("pair.rdma_share"));
  record = judged_with([](VerbsSample& sample) {
    auto& latency = sample.latencies[0];
    latency.p50_s = latency.p90_s = latency.p99_s = latency.p999_s = latency.max_s = 0.1;
  });
  EXPECT_THAT(told(record), ElementsAre("rdma.latency_high n0001 rail0 mlx5_0 <-> n0002"));
}

TEST(PairRdma, AnImpossibleRateIsNoSpeed) {
  const Record record = judged_with([](VerbsSample& sample) {
    sample.rates[0].a_to_b.bytes_per_s *= 2;
    sample.rates[0].a_to_b.elapsed_s /= 2;
    sample.rates[0].a_to_b.cpu_s /= 2;
  });
  EXPECT_EQ(record.verdict, Verdict::inconclusive);
  EXPECT_THAT(told(record), ElementsAre(HasSubstr("bench.impossible_number")));
}

TEST(PairRdma, WhatWasMeasuredOtherwiseThanPlannedOrDeclaredIsNoEvidence) {
  const std::pair<const char*, std::function<void(VerbsSample&)>> cases[] = {
      {"declared is mlx5_0", [](VerbsSample& s) { s.a_end.device = "mlx5_7"; }},
      {"not of the rail's address", [](VerbsSample& s) { s.b_end.gid = s.a_end.gid; }},
      {"not of the rail's address", [](VerbsSample& s) { s.a_end.gid = "fe80:0000:0000:0000:0000:5eff:fe00:5301"; }},
      {"link layer", [](VerbsSample& s) { s.b_end.link_layer = "InfiniBand"; }},
      {"contradict", [](VerbsSample& s) { s.path_mtu_bytes = 4096; }},
      {"no port has", [](VerbsSample& s) { s.a_end.mtu_bytes = 1500; }},
      {"more or less", [](VerbsSample& s) { s.rates.clear(); }},
      {"more or less", [](VerbsSample& s) { s.latencies.clear(); }},
      {"otherwise than planned", [](VerbsSample& s) { s.rates[0].operation = fabric::Operation::read; }},
      {"otherwise than planned", [](VerbsSample& s) { s.rates[0].bytes = 8 << 20; }},
      {"otherwise than planned", [](VerbsSample& s) { s.latencies[0].iterations = 3; }},
      {"are needed", [](VerbsSample& s) { s.rates[0].a_to_b.elapsed_s = 1e-6; }},
      {"contradict", [](VerbsSample& s) { s.rates[0].a_to_b.messages *= 2; }},
      {"cannot have taken", [](VerbsSample& s) { s.rates[0].a_to_b.cpu_s = 9; }},
      {"no payload", [](VerbsSample& s) { s.rates[0].b_to_a.payload_checked = 0; }},
      {"not ordered", [](VerbsSample& s) { s.latencies[0].p50_s = 1; }},
      {"without a cause", [](VerbsSample& s) { s.failure.what = "something"; }},
      {"no known cause", [](VerbsSample& s) { fail(s, "rdma.nothing_of_the_kind", "n0001"); }},
      {"or host", [](VerbsSample& s) { fail(s, "rdma.remote_access", "n0003"); }},
      {"mode of repetitions", [](VerbsSample& s) { s.mode = fabric::PairMode::alone; }},
  };
  for (const auto& [says, edit] : cases) {
    const Record record = judged_with(edit);
    EXPECT_EQ(record.verdict, Verdict::inconclusive) << says;
    EXPECT_THAT(record.reason, HasSubstr(says));
  }
}

TEST(PairRdma, WithoutALimitNothingPasses) {
  for (const char* metric : {"pair.rdma_share", "pair.latency", "pair.latency_tail", "pair.window"}) {
    Limits limits = good().limits;
    limits.metrics.erase(metric);
    for (const Record& record : good().records) {
      if (record.check != "pair.rdma") continue;
      EXPECT_THAT(told(judged({good().inventory, limits}, record)), ElementsAre(HasSubstr("gate.limit_missing")));
    }
  }
}

}  // namespace
}  // namespace fabricgate::suites
