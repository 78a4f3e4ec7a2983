/// A node that the launcher lost in the middle of a tier is blamed once; what its partners saw of it is an echo.
#include "suites/gate/gate_testing.hpp"

#include <algorithm>

#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;

void lose(GoodRun& run, const char* check, Tier tier, const std::string& host) {
  run.records.push_back({.identity = run.identity, .check = check, .tier = tier, .hosts = {host}, .attempt = 1, .verdict = Verdict::fail,
                         .reason = "stopped", .findings = {make_finding("launch.rank_silent", {.host = host}, "lives", "stopped")}});
}

/// n0004 is not in the collective; one of its pairs was measured until the moment it was stopped.
GoodRun stopped_in_pairs() {
  GoodRun run = good_run();
  for (Record& record : run.records) {
    if (record.check == "collective.allreduce") {
      record.hosts = {"n0001", "n0002", "n0003"};
      record.sample = good_collective(record.hosts, 2e9 / 8);
    } else if (record.check == "pair.rail" && about(record, "n0004") && about(record, "n0001")) {
      slow_down(record.sample["a_to_b"], 0.7);
    } else {
      continue;
    }
    record = judged({run.inventory, run.limits}, record);
  }
  return run;
}

TEST(GateLost, APairMeasuredWhileItsNodeWasStoppedIsNoFindingOfItsOwn) {
  GoodRun run = stopped_in_pairs();
  EXPECT_FALSE(blamed(judge(run, run.text())).empty()) << "without the statement the slow pair must be blamed";
  lose(run, "pair.rail", Tier::pair, "n0004");
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("launch.rank_silent n0004"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "pass", "fail"));
}

TEST(GateLost, ARankStoppedInTheCollectiveIsBlamedForThatAndNotForItsAbsence) {
  GoodRun run = good_run();
  const auto whole = std::find_if(run.records.begin(), run.records.end(), [](const Record& record) { return record.check == "collective.allreduce"; });
  Record again = *whole;
  again.attempt = 1;
  again.hosts = {"n0001", "n0002", "n0003"};
  again.sample = good_collective(again.hosts, 2e9 / 8);
  again = judged({run.inventory, run.limits}, again);
  whole->sample["missing"] = {"n0004"};
  *whole = judged({run.inventory, run.limits}, *whole);
  run.records.push_back(again);
  ASSERT_THAT(said(judge(run, run.text())), testing::HasSubstr("collective.failed n0004"));
  lose(run, "collective.allreduce", Tier::collective, "n0004");
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("launch.rank_silent n0004"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "pass", "fail"));
}

TEST(GateLost, ARailThatWentDarkInTheCollectiveIsBlamedAndNotTheWaitingOfTheOthers) {
  GoodRun run = good_run();
  const auto whole = std::find_if(run.records.begin(), run.records.end(),
                                  [](const Record& record) { return record.check == "collective.allreduce"; });
  Record again = *whole;
  again.attempt = 1;
  again.hosts = {"n0001", "n0002", "n0004"};
  again.sample = good_collective(again.hosts, 2e9 / 8);
  again = judged({run.inventory, run.limits}, again);
  whole->sample["error"] = "n0001: waited for n0002 over rail1 after 120 transfers: nothing for 5.0 s";
  whole->sample["failed"] = {{"host", "n0001"}, {"peer", "n0002"}, {"rail", "rail1"}};
  *whole = judged({run.inventory, run.limits}, *whole);
  run.records.push_back(again);
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre(testing::StartsWith("collective.failed n0001")))
      << "without the statement it is who waited for whom";
  run.records.push_back(
      {.identity = run.identity,
       .check = "collective.allreduce",
       .tier = Tier::collective,
       .hosts = {"n0003"},
       .attempt = 1,
       .verdict = Verdict::fail,
       .reason = "dark",
       .findings = {make_finding("pair.unreachable", {.host = "n0003", .rail = "rail1"}, "an answer", "none")}});
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("pair.unreachable n0003 rail1"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateLost, ADeadPartnerHidesNoOtherFault) {
  GoodRun run = stopped_in_pairs();
  lose(run, "pair.rail", Tier::pair, "n0004");
  for (Record& record : run.records) {
    if (record.check != "pair.rail" || !about(record, "n0002") || record.rail != "rail1") continue;
    for (const char* direction : {"a_to_b", "b_to_a"}) slow_down(record.sample[direction], 0.5);
    record = judged({run.inventory, run.limits}, record);
  }
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), testing::UnorderedElementsAre("launch.rank_silent n0004", testing::StartsWith("pair.rail_slow n0002 rail1")));
}

TEST(GateLost, AJobThatEndedEarlyThroughNoNodesFaultIsSaidBeforeWhatItLeftOut) {
  GoodRun run = good_run();
  std::erase_if(run.records, [](const Record& record) { return record.tier == Tier::pair || record.tier == Tier::collective; });
  const GateInput input{.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity, .unfinished = "tier pair: mpirun ended by signal 9 on the head"};
  const GateResult result = gate(input, {{"records.jsonl", run.text()}});
  EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
  EXPECT_EQ(result.reason, "launch.job_unfinished: tier pair: mpirun ended by signal 9 on the head");
}

TEST(GateLost, AFindingOfTheRunsStartKeepsTheGateShutThoughAllRecordsAreGood) {
  const GoodRun run = good_run();
  const GateInput input{.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity,
                        .findings = {make_finding("launch.placement", {}, "ranks on nodes of the inventory only", "h9 is none")}};
  const GateResult result = gate(input, {{"records.jsonl", run.text()}});
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_EQ(result.reason, "launch.placement: h9 is none");
}

}  // namespace
}  // namespace fabricgate::suites
