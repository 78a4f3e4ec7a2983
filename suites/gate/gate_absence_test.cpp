/// The gate cannot be opened by absence: a good run of four nodes and two rails, then every way to lose, cut, repeat or
/// bend its lines. Each line in turn; under a sanitizer, where a judgement takes many times as long, every fifth
/// (TEST_STRIDE).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using testing::HasSubstr;

TEST(GateAbsence, ACompleteGoodRunIsReady) {
  const GateResult result = judge(good(), good().text());
  EXPECT_EQ(result.exit_code, ExitCode::ready) << said(result);
  EXPECT_EQ(result.text, "READY (emulated)");
  EXPECT_EQ(result.coverage, "6 of 6 pairs on 2 rails");
  for (const NodeResult& node : result.nodes) EXPECT_EQ(node.verdict, Verdict::pass) << node.name;
}

TEST(GateAbsence, HardwareThatIsGoodIsReadyWithoutTheWordEmulated) {
  GoodRunShape shape;
  shape.emulated = false;
  GoodRun run = good_run(shape);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "READY") << said(result);
}

TEST(GateAbsence, TheOrderOfLinesDoesNotMatter) {
  std::vector<std::string> lines = good().lines();
  std::mt19937 random(7);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(lines.begin(), lines.end(), random);
    EXPECT_EQ(judge(good(), joined(lines)).text, "READY (emulated)");
  }
}

TEST(GateAbsence, LinesThatAreThereTwiceLetterForLetterDoNotMatter) {
  EXPECT_EQ(judge(good(), good().text() + good().text()).text, "READY (emulated)");
}

TEST(GateAbsence, EveryDeletedLineShutsTheGateAndIsNamed) {
  const std::vector<std::string> lines = good().lines();
  for (std::size_t i = 0; i < lines.size(); i += TEST_STRIDE) {
    std::vector<std::string> rest = lines;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const GateResult result = judge(good(), joined(rest));
    expect_shut(result, "without " + lines[i].substr(0, 200));
    EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
    EXPECT_THAT(said(result), HasSubstr(good().records[i].check));
    if (good().records[i].hosts.size() > 2) continue;
    for (const std::string& host : good().records[i].hosts) EXPECT_THAT(said(result), HasSubstr(host));
  }
}

TEST(GateAbsence, EveryTruncatedLineShutsTheGateAndItsPlaceIsNamed) {
  const std::vector<std::string> lines = good().lines();
  for (std::size_t i = 0; i < lines.size(); i += TEST_STRIDE) {
    for (const std::size_t keep : {std::size_t{1}, lines[i].size() / 2, lines[i].size() - 1}) {
      std::vector<std::string> cut = lines;
      cut[i].resize(keep);
      const GateResult result = judge(good(), joined(cut));
      expect_shut(result, "cut line " + std::to_string(i + 1));
      EXPECT_THAT(said(result), HasSubstr("records.jsonl:" + std::to_string(i + 1)));
    }
  }
}

TEST(GateAbsence, ATornLineBesideACompleteRunShutsTheGate) {
  const GateResult result = judge(good(), good().text() + "{\"schema\":1,\"run\":\"ru");
  expect_shut(result, "torn line");
  EXPECT_THAT(said(result), HasSubstr("gate.record_unreadable"));
}

TEST(GateAbsence, ALineBeyondAnyLengthOfARecordIsNamed) {
  const std::string start = "{\"schema\":1,\"reason\":\"", end = "\"}\n";
  const GateResult result = judge(good(), good().text() + start + std::string(std::size_t{65} << 20, 'x') + end);
  expect_shut(result, "a line of 65 MiB");
  EXPECT_THAT(said(result), HasSubstr("records.jsonl:" + std::to_string(good().records.size() + 1)));
  EXPECT_THAT(said(result), HasSubstr("a line of at most"));
}

TEST(GateAbsence, ANodeStagedWithOtherProgramsThanTheRestIsNamed) {
  for (const char* program : {"agent_sha256", "rank_sha256"}) {
    GoodRun run = good();
    change(run, "stage.node", [&](Record& record) {
      if (about(record, "n0003")) record.sample[program] = std::string(64, 'a');
      return about(record, "n0003");
    });
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.exit_code, ExitCode::not_ready) << said(result);
    EXPECT_THAT(result.reason, HasSubstr("launch.program_differs n0003"));
  }
}

TEST(GateAbsence, RepetitionsWithoutThePlannedMeasurementAreNoEvidence) {
  for (std::size_t i = 0; i < good().records.size(); ++i) {
    GoodRun run = good();
    run.records[i].attempt = 1;
    expect_shut(judge(run, run.text()), subject_key(run.records[i]) + " with attempt 1 alone");
  }
}

TEST(GateAbsence, ASecondRecordThatDisagreesShutsTheGateForEveryLine) {
  for (std::size_t i = 0; i < good().records.size(); i += TEST_STRIDE) {
    Record other = good().records[i];
    other.elapsed_s += 1;
    for (const bool first : {true, false}) {
      const std::string line = to_line(other) + "\n";
      const GateResult result = judge(good(), first ? line + good().text() : good().text() + line);
      expect_shut(result, "second record of " + subject_key(other));
      EXPECT_THAT(said(result), HasSubstr("gate.record_conflict"));
    }
  }
}

TEST(GateAbsence, AVerdictEditedAgainstItsSampleShutsTheGate) {
  for (std::size_t i = 0; i < good().records.size(); i += TEST_STRIDE) {
    for (const Verdict verdict : {Verdict::fail, Verdict::blocked, Verdict::inconclusive, Verdict::skip, Verdict::not_run}) {
      std::vector<std::string> lines = good().lines();
      Record edited = good().records[i];
      edited.verdict = verdict;
      lines[i] = to_line(edited);
      expect_shut(judge(good(), joined(lines)), subject_key(edited) + " edited to " + to_string(verdict));
    }
  }
}

TEST(GateAbsence, APassWithoutItsSampleShutsTheGate) {
  for (std::size_t i = 0; i < good().records.size(); i += TEST_STRIDE) {
    for (const char* sample : {"null", "{}", "[]", "7", "\"good\"", "true", "[[[]]]"}) {
      std::vector<std::string> lines = good().lines();
      Record edited = good().records[i];
      edited.sample = nlohmann::json::parse(sample);
      lines[i] = to_line(edited);
      const GateResult result = judge(good(), joined(lines));
      expect_shut(result, subject_key(edited) + " with sample " + sample);
      EXPECT_THAT(said(result), HasSubstr("gate.verdict_edited"));
    }
  }
}

TEST(GateAbsence, ABadPairRecordedAsPassIsAnEditedVerdict) {
  GoodRun run = good();
  for (Record& record : run.records)
    if (record.check == "pair.rail" && record.hosts == std::vector<std::string>{"n0001", "n0002"} && record.rail == "rail0")
      for (auto& point : record.sample["a_to_b"]["sweep"]) {
        point["bytes_per_s"] = point["bytes_per_s"].get<double>() / 2;
        point["elapsed_s"] = point["elapsed_s"].get<double>() * 2;
      }
  const GateResult result = judge(run, run.text());
  expect_shut(result, "halved");
  EXPECT_THAT(said(result), HasSubstr("gate.verdict_edited"));
}

TEST(GateAbsence, RecordsOfAnotherRunInventoryBuildOrSuiteAreNoEvidence) {
  const std::vector<std::pair<std::string, RunIdentity>> others{
      {"run other", {"other", good().identity.inventory, good().identity.build, good().identity.suite}},
      {"inventory other", {good().identity.run, "other", good().identity.build, good().identity.suite}},
      {"build other", {good().identity.run, good().identity.inventory, "other", good().identity.suite}},
      {"suite other", {good().identity.run, good().identity.inventory, good().identity.build, "other"}}};
  for (const auto& [what, identity] : others) {
    GoodRun all = good();
    for (Record& record : all.records) record.identity = identity;
    const GateResult against = gate({good().inventory, good().suite, good().limits, good().identity}, {{"records.jsonl", all.text()}});
    expect_shut(against, what);
    EXPECT_THAT(said(against), HasSubstr(what));  // the first line is named with what is foreign in it
    for (std::size_t i = 0; i < all.records.size(); i += TEST_STRIDE) {
      std::vector<std::string> lines = good().lines();
      lines[i] = to_line(all.records[i]);
      expect_shut(judge(good(), joined(lines)), what + " in line " + std::to_string(i + 1));
    }
  }
}

TEST(GateAbsence, NothingAtAllIsNotReady) {
  for (const char* text : {"", "\n\n", "{}\n", "null\n", "[]\n", "\xff\xfe\n"}) expect_shut(judge(good(), text), text);
  expect_shut(gate({good().inventory, good().suite, good().limits, good().identity}, std::vector<RecordFile>{}), "no file");
}

TEST(GateAbsence, NoLimitsNoChecksAndNoNodesAreNotReady) {
  GoodRun run = good();
  run.limits.metrics.clear();
  GateResult result = judge(run, run.text());
  expect_shut(result, "no limits");
  EXPECT_THAT(said(result), HasSubstr("limits without a metric"));
  run = good();
  run.suite.checks.clear();
  result = judge(run, run.text());
  expect_shut(result, "no checks");
  EXPECT_THAT(said(result), HasSubstr("a suite without checks"));
  run = good();
  run.inventory.nodes.clear();
  result = judge(run, run.text());
  expect_shut(result, "no nodes");
  EXPECT_THAT(said(result), HasSubstr("no required node"));
  result = judge(run, "");
  expect_shut(result, "no nodes and no records");
  run = good();
  for (Node& node : run.inventory.nodes) node.required = false;
  expect_shut(judge(run, run.text()), "no required nodes");
}

TEST(GateAbsence, EverySingleMissingLimitShutsTheGateAndIsNamed) {
  for (const auto& [metric, limit] : good().limits.metrics) {
    if (metric == "clock.offset" || metric == "pair.latency") continue;  // no sample of this run asks for them
    GoodRun run = good();
    run.limits.metrics.erase(metric);
    const GateResult result = judge(run, run.text());
    expect_shut(result, metric);
    EXPECT_THAT(said(result), HasSubstr(metric));
  }
}

TEST(GateAbsence, AllSkippedIsNotReadyEvenWhereTheSuiteAllowsSkips) {
  for (const bool allowed : {false, true}) {
    GoodRun run = good();
    for (auto& [check, demand] : run.suite.checks) demand.may_skip = allowed;
    for (Record& record : run.records) {
      record.verdict = Verdict::skip;
      record.reason = "does not apply";
      record.sample = nullptr;
    }
    expect_shut(judge(run, run.text()), allowed ? "skips allowed" : "skips refused");
  }
}

TEST(GateAbsence, AKubernetesSectionIsNeverReadyWithoutItsRecords) {
  GoodRunShape shape;
  shape.extra_yaml = "kubernetes:\n  context: admin\n";
  const GoodRun run = good_run(shape);
  const GateResult result = judge(run, run.text());
  expect_shut(result, "kubernetes");
  EXPECT_THAT(said(result), HasSubstr("addons"));
}

TEST(GateAbsence, RecordsAboutUnknownThingsShutTheGate) {
  const auto with = [](auto change) {
    Record record = good().records[1];
    change(record);
    return judge(good(), good().text() + to_line(record) + "\n");
  };
  expect_shut(with([](Record& r) { r.hosts = {"stranger"}; }), "unknown host");
  expect_shut(with([](Record& r) { r.hosts.clear(); }), "no host");
  expect_shut(with([](Record& r) { r.check = "host.magic"; }), "unknown check");
  expect_shut(with([](Record& r) { r.tier = Tier::soak; }), "wrong tier");
  expect_shut(with([](Record& r) { r.attempt = -1; }), "negative attempt");
}

TEST(GateAbsence, ATimeBudgetThatLeavesPairsOutIsTheReasonAndNoNodeIsBlamed) {
  GoodRunShape shape;
  shape.nodes = 3;
  shape.rounds = 1;
  const GoodRun run = good_run(shape);
  const GateInput input{.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity, .short_budget_s = 5};
  const GateResult result = gate(input, {{"records.jsonl", run.text()}});
  expect_shut(result, "1 of 3 rounds");
  EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
  EXPECT_THAT(result.reason, HasSubstr("gate.coverage"));
  EXPECT_THAT(result.reason, HasSubstr("1 of 3 pairs"));
  EXPECT_THAT(result.reason, HasSubstr("--budget"));
  for (const NodeResult& node : result.nodes) EXPECT_TRUE(node.findings.empty()) << node.name << " " << said(result);
}

TEST(GateAbsence, AnInterruptedRunSaysSoBeforeItNamesWhatIsMissing) {
  std::vector<std::string> lines = good().lines();
  lines.resize(lines.size() / 2);
  const GoodRun& run = good();
  const GateInput input{.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity, .interrupted = "SIGINT"};
  GateResult result = gate(input, {{"records.jsonl", joined(lines)}});
  EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
  EXPECT_THAT(result.reason, HasSubstr("launch.interrupted: SIGINT"));
  result = gate(input, {{"records.jsonl", run.text()}});
  expect_shut(result, "interrupted after the last record");
}

TEST(GateAbsence, FewerRoundsThanTheSuiteDemandsAreNotReady) {
  GoodRunShape shape;
  shape.nodes = 8;
  shape.rounds = 3;
  GoodRun run = good_run(shape);
  GateResult result = judge(run, run.text());
  expect_shut(result, "3 of 7 rounds");
  EXPECT_EQ(result.coverage, "12 of 28 pairs on 2 rails");
  run.suite.full_coverage_nodes = 4;
  run.suite.minimum_partners = 3;
  result = judge(run, run.text());
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  run.suite.minimum_partners = 4;
  result = judge(run, run.text());
  expect_shut(result, "3 of at least 4 partners");
  EXPECT_THAT(said(result), HasSubstr("3 of at least 4 partners"));
}

}  // namespace
}  // namespace fabricgate::suites
