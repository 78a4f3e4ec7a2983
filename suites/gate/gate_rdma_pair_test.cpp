/// pair.rdma in the gate: demanded where both ends declare a device, of nobody else, and who is blamed for what it
/// found.
#include "fabric/verbs/verbs_sample.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using fabric::VerbsSample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

GateResult judge(const GoodRun& run) {
  return judge(run, run.text());
}

using Edit = std::function<void(VerbsSample&)>;

/// Samples of pair.rdma on rail0, those of `host` or all, changed as a live run would have had them.
GoodRun with(const Edit& edit, const std::string& host = "", GoodRun run = good()) {
  change(run, "pair.rdma", [&](Record& record) {
    if (record.rail != "rail0" || (!host.empty() && !about(record, host))) return false;
    auto sample = fabric::verbs_sample_from_json(record.sample);
    edit(*sample);
    record.sample = to_json_value(*sample);
    return true;
  });
  return run;
}

void slow(fabric::VerbsFlow& flow) {
  flow.bytes_per_s /= 2;
  flow.elapsed_s *= 2;
}

Edit not_acknowledged(const std::string& host) {
  return [host](VerbsSample& sample) {
    sample.rates.clear();
    sample.latencies.clear();
    sample.failure = {.host = host.empty() ? sample.a : host,
                      .cause = "rdma.not_acknowledged",
                      .what = "retries exceeded",
                      .step = "write, 65536 bytes, 1 qp",
                      .native = 12};
  };
}

TEST(GateRdmaPair, TheTableHasRdmaBesideTcp) {
  const GateResult result = judge(good());
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  ASSERT_EQ(result.paths.size(), 5u);  // overlay, and TCP and RDMA of two rails
  EXPECT_FALSE(result.paths[1].rdma);
  EXPECT_TRUE(result.paths[2].rdma);
  EXPECT_EQ(result.paths[2].rail, "rail0");
  EXPECT_EQ(result.paths[2].pairs, 6u);
  EXPECT_NEAR(result.paths[1].cpu_s_per_byte_median, 4e-10, 1e-15);
  EXPECT_NEAR(result.paths[2].cpu_s_per_byte_median, 0.99 / result.paths[2].bytes_per_s_median, 1e-15);
}

TEST(GateRdmaPair, WithoutItsRecordsTheGateIsShut) {
  GoodRun run = good();
  drop(run, [](const Record& record) { return record.check == "pair.rdma"; });
  expect_shut(judge(run), "none of them");
  run = good();
  drop(run, [](const Record& record) {
    return record.check == "pair.rdma" && record.rail == "rail1" && about(record, "n0001") && about(record, "n0003");
  });
  expect_shut(judge(run), "one missing");
  EXPECT_THAT(said(judge(run)), HasSubstr("pair.rdma n0001,n0003 rail1: no record"));
}

TEST(GateRdmaPair, ARecordEditedIntoAPassIsFound) {
  GoodRun run = with(not_acknowledged(""), "n0002");
  for (Record& record : run.records)
    if (record.check == "pair.rdma") record.verdict = Verdict::pass, record.findings.clear(), record.reason.clear();
  const GateResult result = judge(run);
  expect_shut(result, "edited");
  EXPECT_THAT(said(result), HasSubstr("gate.verdict_edited"));
}

TEST(GateRdmaPair, ARailOfWhichNobodyElseDeclaresADeviceIsNotProven) {
  GoodRun run = good();
  for (std::size_t node = 1; node < run.inventory.nodes.size(); ++node) {
    auto spec = std::make_shared<NodeClass>(*run.inventory.nodes[node].spec);
    spec->rails[1].device.clear();
    run.inventory.nodes[node].spec = spec;
  }
  drop(run, [](const Record& record) {
    return record.rail == "rail1" &&
           (record.check == "pair.rdma" || (record.check.rfind("link.rdma", 0) == 0 && !about(record, "n0001")));
  });
  change(run, "pair.rail", [](Record& record) {
    if (record.rail == "rail1") record.sample["rdma_skipped"] = "declared at one end alone";
    return record.rail == "rail1";
  });
  const GateResult result = judge(run);
  expect_shut(result, "alone with a device");
  EXPECT_THAT(said(result), HasSubstr("gate.coverage n0001 rail1 pair.rdma measured with at least one other node"));
  EXPECT_THAT(said(result), Not(HasSubstr("pair.rdma n0001,n0002 rail1: no record")));
}

TEST(GateRdmaPair, WhetherRdmaIsMeasuredBesideTcpFollowsTheDeclaration) {
  GoodRun run = good();
  change(run, "pair.rail", [](Record& record) {
    record.sample["rdma_skipped"] = "n0001 declares no RDMA device for it";
    return true;
  });
  expect_shut(judge(run), "skipped where it is declared");
  run = good_run();
  change(run, "pair.rail", [](Record& record) {
    record.sample["rdma_skipped"] = "";
    return true;
  });
  expect_shut(judge(run), "left out without a word");
}

TEST(GateRdmaPair, AnEndThatCannotBeOpenedIsOneFindingOfItsNode) {
  const GateResult result = judge(with(
      [](VerbsSample& sample) {
        sample = {.a = sample.a, .b = sample.b, .rail = sample.rail};
        sample.failure = {.host = "n0002", .cause = "gid.roce_v1", .what = "GID table"};
      },
      "n0002"));
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("gid.roce_v1 n0002 rail0 mlx5_0")) << said(result);
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
}

TEST(GateRdmaPair, AnEndThatNobodyReachesOverRdmaIsBlamedWithWhatRdmaTold) {
  const GateResult result = judge(with(not_acknowledged(""), "n0003"));
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre(HasSubstr("rdma.not_acknowledged n0003 rail0"))) << said(result);
  EXPECT_THAT(said(result), HasSubstr("over RDMA"));
  EXPECT_EQ(result.nodes[0].verdict, Verdict::pass);
}

TEST(GateRdmaPair, AnEndThatIsSlowOverRdmaAloneIsBlamedLikeOneThatIsSlow) {
  const GateResult result = judge(with(
      [](VerbsSample& sample) {
        slow(sample.rates[0].a_to_b);
        slow(sample.rates[0].b_to_a);
      },
      "n0003"));
  EXPECT_THAT(blamed(result), ElementsAre(HasSubstr("pair.rail_slow n0003 rail0"))) << said(result);
  EXPECT_THAT(said(result), HasSubstr("over RDMA"));
}

TEST(GateRdmaPair, WhatIsWrongWithoutRdmaExplainsIt) {
  GoodRun run = with(not_acknowledged(""), "n0004");
  change(run, "pair.rail", [](Record& record) {
    if (record.rail != "rail0" || !about(record, "n0004")) return false;
    slow_down(record.sample["a_to_b"], 0.5);
    slow_down(record.sample["b_to_a"], 0.5);
    return true;
  });
  const GateResult result = judge(run);
  EXPECT_THAT(blamed(result), ElementsAre(HasSubstr("pair.rail_slow n0004 rail0"))) << said(result);
}

TEST(GateRdmaPair, WrongBytesOfOnePairAreNobodysAlone) {
  GoodRun run = good();
  change(run, "pair.rdma", [](Record& record) {
    if (record.rail != "rail0" || !about(record, "n0001") || !about(record, "n0002")) return false;
    record.sample["rates"][0]["a_to_b"]["payload_errors"] = 1;
    record.sample["rates"][0]["a_to_b"]["first_wrong"] = "qp 0, slot 0, byte 1";
    return true;
  });
  const GateResult result = judge(run);
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre(HasSubstr("bench.data_wrong n0001 rail0"))) << said(result);
}

TEST(GateRdmaPair, SlowWithOthersRunningAndGoodAloneIsAWarning) {
  GoodRun run = good();
  std::vector<Record> more;
  for (Record& record : run.records) {
    if (record.check != "pair.rdma" || record.rail != "rail0" || !about(record, "n0001") || !about(record, "n0002"))
      continue;
    for (const int attempt : {1, 2}) {
      Record again = record;
      again.attempt = attempt;
      if (attempt == 1) again.sample["mode"] = "alone";
      more.push_back(fabricgate::suites::judged({run.inventory, run.limits}, again));
    }
    auto sample = fabric::verbs_sample_from_json(record.sample);
    slow(sample->rates[0].a_to_b);
    record.sample = to_json_value(*sample);
    record = fabricgate::suites::judged({run.inventory, run.limits}, record);
  }
  ASSERT_EQ(more.size(), 2u);
  run.records.insert(run.records.end(), more.begin(), more.end());
  const GateResult result = judge(run);
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  EXPECT_THAT(said(result), HasSubstr("pair.unstable"));
}

}  // namespace
}  // namespace fabricgate::suites
