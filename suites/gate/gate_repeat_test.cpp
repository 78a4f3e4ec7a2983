/// A slow AllReduce is repeated before it closes the gate.
#include "suites/gate/gate_testing.hpp"

#include <algorithm>

#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

/// The good run with the AllReduce once for each factor of its rate.
GoodRun with_attempts(const std::vector<double>& factors) {
  GoodRun run = good_run();
  const auto is_collective = [](const Record& record) { return record.check == "collective.allreduce"; };
  const Record first = *std::find_if(run.records.begin(), run.records.end(), is_collective);
  run.records.erase(std::remove_if(run.records.begin(), run.records.end(), is_collective), run.records.end());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Record record = first;
    record.attempt = static_cast<int>(i);
    record.sample = good_collective(record.hosts, factors[i] * 2e9 / 8);
    run.records.push_back(judged({run.inventory, run.limits}, record));
  }
  return run;
}

TEST(GateRepeat, AnAllReduceGoodInBothRepetitionsIsAWarning) {
  const GoodRun run = with_attempts({0.3, 1, 1});
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "READY (emulated)") << result.reason;
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_THAT(said(result), testing::HasSubstr("collective.unstable"));
}

TEST(GateRepeat, AnAllReduceNotGoodInBothRepetitionsKeepsTheGateShut) {
  for (const auto& factors : std::vector<std::vector<double>>{{0.3}, {0.3, 1}, {0.3, 1, 0.3}, {0.3, 0.3, 1}, {0.3, 1, 1, 0.3}}) {
    const GoodRun run = with_attempts(factors);
    expect_shut(judge(run, run.text()), std::to_string(factors.size()) + " attempts");
  }
}

TEST(GateRepeat, WrongDataIsNeverForgiven) {
  GoodRun run = with_attempts({0.3, 1, 1});
  Record& first = *std::find_if(run.records.begin(), run.records.end(), [](const Record& record) { return record.check == "collective.allreduce"; });
  first.findings.push_back(make_finding("collective.failed", {.host = "n0001"}, "takes part", "did not"));
  expect_shut(judge(run, run.text()), "a second finding");
}

TEST(GateRepeat, ACollectiveThatFailsEachTimeIsToldOnceWithWhoWaitedForWhom) {
  GoodRun run = with_attempts({1, 1});
  for (Record& record : run.records) {
    if (record.check != "collective.allreduce") continue;
    record.sample["error"] = "n0001: waited for n0002 over rail1 after 120 transfers: nothing for 5.0 s";
    record.sample["failed"] = {{"host", "n0001"}, {"peer", record.attempt == 0 ? "n0002" : "n0004"}, {"rail", "rail1"}};
    record = judged({run.inventory, run.limits}, record);
  }
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), testing::ElementsAre("collective.failed n0001 rail1 <-> n0002")) << said(result);
}

TEST(GateRepeat, WhoIsNamedForAnErrorTakesPartAndOnlyForAnError) {
  for (const nlohmann::json& failed : {nlohmann::json{{"host", "n0001"}, {"peer", ""}, {"rail", ""}}, nlohmann::json{{"host", "n0009"}, {"peer", ""}, {"rail", ""}}}) {
    GoodRun run = with_attempts({1});
    change(run, "collective.allreduce", [&](Record& record) {
      record.sample["failed"] = failed;
      if (failed["host"] == "n0009") record.sample["error"] = "n0009: no";
      return true;
    });
    expect_shut(judge(run, run.text()), failed.dump());
  }
}

TEST(GateRepeat, ThatNoCollectiveCouldRunIsSaid) {
  GoodRun run = good_run();
  change(run, "link.rail", [](Record& record) {
    record.sample["now"]["carrier"] = false;
    return !about(record, "n0001");
  });
  drop(run, [](const Record& record) { return record.tier >= Tier::pair && record.check != "link.counters"; });
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  const auto said = [](const Missing& missing) { return to_string(missing); };
  std::vector<std::string> all;
  std::transform(result.missing.begin(), result.missing.end(), std::back_inserter(all), said);
  EXPECT_THAT(all, testing::Contains("collective.allreduce: fewer than two good nodes were left to run it on"));
}

}  // namespace
}  // namespace fabricgate::suites
