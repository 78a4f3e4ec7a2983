#include "launch/accept/setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "results/file.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

/// A job over the machines of a good run, with the run's identity.
struct Made {
  suites::GoodRun run = suites::good_run();
  Setup setup = [this] {
    Job job = job_by_hand(run.inventory, {});
    job.identity = run.identity;
    auto made = make_setup(std::move(job));
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }();

  std::string without(const std::string& check) const {
    std::string out;
    for (const Record& record : run.records)
      if (record.check != check) out += to_line(record) + "\n";
    return out;
  }
};

std::vector<std::string> checks_of(const suites::Suite& suite) {
  std::vector<std::string> out;
  for (const auto& check : suite.checks) out.push_back(check.first);
  return out;
}

TEST(Setup, TextsFromFilesAreNamedByThem) {
  const suites::GoodRun run = suites::good_run();
  Job job = job_by_hand(run.inventory, {});
  job.limits_text = "limits: 7\n";
  auto made = make_setup(job, {.limits = "bad.yaml", .suite = "mine.yaml"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("bad.yaml:1:"));
  job.limits_text = "";
  job.suite_text = "name: x\nwhat: y\n";
  made = make_setup(job, {.limits = "bad.yaml", .suite = "mine.yaml"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("mine.yaml:"));
}

TEST(Setup, ASuiteThatIsNotThereIsNotTakenForTheBuiltInOne) {
  const suites::GoodRun run = suites::good_run();
  Job job = job_by_hand(run.inventory, {});
  const std::size_t end = job.inventory_text.find("suite: default");
  job.inventory_text = job.inventory_text.substr(0, end) + "\nsuite: nightly\n";
  const auto made = make_setup(job);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("unknown suite 'nightly'; built in: default"));
  job.suite_text = suites::default_suite_text();
  EXPECT_TRUE(make_setup(job)) << make_setup(job).error().what;
}

TEST(Setup, DemandsThatAreMissingOrEmptyAreErrorsAndNotTheBuiltInOnes) {
  const std::string folder = testing::TempDir() + "demands" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file_atomic(folder + "/mine.yaml", "x"));
  ASSERT_TRUE(write_file_atomic(folder + "/empty.yaml", ""));
  Job job;
  EXPECT_THAT(read_demands({.limits = folder + "/min.yaml"}, job).error().what,
              HasSubstr("/min.yaml: no such file, beside it are empty.yaml, mine.yaml; without --limits the built-in "
                        "one, default, is used"));
  EXPECT_THAT(read_demands({.suite = folder + "/empty.yaml"}, job).error().what,
              HasSubstr("empty.yaml: the file is empty"));
  EXPECT_TRUE(read_demands({.limits = folder + "/mine.yaml"}, job));
  EXPECT_EQ(job.limits_text, "x");
  EXPECT_EQ(job.suite_text, "");
  std::filesystem::remove_all(folder);
}

TEST(Setup, TextsThatDoNotParseNameThemselvesAndThePlace) {
  const suites::GoodRun run = suites::good_run();
  Job job = job_by_hand(run.inventory, {});
  job.limits_text = "limits: 7\n";
  auto made = make_setup(job);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("limits:1:"));
  job.limits_text = "";
  job.suite_text = "name: x\nwhat: y\n";
  made = make_setup(job);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("suite:2:1: "));
  job.inventory_text = "schema: 1\nbogus: 2\n";
  made = make_setup(job);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::parse);
  EXPECT_THAT(made.error().what, HasSubstr("inventory:2:1: unknown key 'bogus'"));
}

TEST(Setup, AnEmptyFileOfDemandsIsAnErrorAndNotTheBuiltInText) {
  const std::string path = testing::TempDir() + "demands_" + std::to_string(::getpid());
  for (const DemandFiles& files :
       {DemandFiles{.limits = path, .suite = {}}, DemandFiles{.limits = {}, .suite = path}}) {
    Job job;
    ASSERT_TRUE(write_file_atomic(path, ""));
    const Status read = read_demands(files, job);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().what, path + ": the file is empty");
    ASSERT_TRUE(write_file_atomic(path, "text"));
    EXPECT_TRUE(read_demands(files, job));
    EXPECT_EQ(job.limits_text + job.suite_text, "text");
  }
  EXPECT_FALSE(read_demands({.limits = path + "-none", .suite = {}}, *std::make_unique<Job>()));
  std::remove(path.c_str());
}

TEST(Setup, AJobByHandHasEveryNodeInOrderAndTheInventoryItWasMadeOf) {
  const suites::GoodRun run = suites::good_run();
  const Job job = job_by_hand(run.inventory, {.budget_s = 9});
  EXPECT_THAT(job.hosts, ElementsAre("n0001", "n0002", "n0003", "n0004"));
  EXPECT_EQ(job.identity.inventory, run.inventory.checksum);
  EXPECT_EQ(job.options.budget_s, 9);
  EXPECT_THAT(job.tiers, ElementsAre(Tier::host, Tier::link, Tier::pair, Tier::collective));
}

TEST(Setup, RunIdsDifferAndSortByTime) {
  const std::string one = new_run_id(), two = new_run_id();
  EXPECT_THAT(one, MatchesRegex("[0-9]{8}-[0-9]{6}-[0-9a-f]{6}"));
  EXPECT_NE(one, two);
  EXPECT_LE(one.substr(0, 15), two.substr(0, 15));
}

TEST(Judged, ItCarriesTheRunAndTheVerdictOfItsCheck) {
  const Made made;
  const auto& inventory = made.run.inventory;
  const Record good =
      judged(made.setup,
             {.check = "host.facts", .hosts = {"n0001"}, .sample = suites::good_facts(inventory, 0), .elapsed_s = 0.5});
  EXPECT_EQ(good.identity, made.run.identity);
  EXPECT_EQ(good.tier, Tier::host);
  EXPECT_EQ(good.verdict, Verdict::pass) << good.reason;
  EXPECT_EQ(good.elapsed_s, 0.5);
  nlohmann::json sample = suites::good_link(inventory, 1, inventory.nodes[1].spec->rails[0], false);
  sample["now"]["carrier"] = false;
  const Record bad =
      judged(made.setup, {.check = "link.rail", .hosts = {"n0002"}, .rail = "rail0", .attempt = 2, .sample = sample});
  EXPECT_EQ(bad.verdict, Verdict::fail);
  EXPECT_EQ(bad.attempt, 2);
  ASSERT_FALSE(bad.findings.empty());
  EXPECT_EQ(bad.findings[0].subject.host, "n0002");
}

TEST(Judged, WithoutASampleNothingPasses) {
  const Made made;
  for (const suites::Check& check : suites::catalogue()) {
    const Record record =
        judged(made.setup, {.check = check.id, .hosts = {"n0001", "n0002"}, .rail = "rail0", .sample = nullptr});
    EXPECT_THAT(record.verdict, Not(testing::AnyOf(Verdict::pass, Verdict::warn, Verdict::skip))) << check.id;
  }
}

Record staged(const Made& made, double clock_offset_s) {
  Record record{.identity = made.run.identity, .check = "stage.node", .tier = Tier::stage, .hosts = {"n0002"}};
  record.verdict = Verdict::pass;
  record.sample = suites::good_stage();
  record.sample["clock_offset_s"] = clock_offset_s;
  record.sample["clock_error_s"] = 0.1;
  return record;
}

TEST(HeldAgainstLimits, AStagedNodeWhoseClockIsOffIsNoPassAndSaysSo) {
  Made made;
  made.setup.job.tiers = {Tier::stage};
  const Record record = held_against_limits(made.setup, staged(made, 76));
  EXPECT_FALSE(opens_gate(record.verdict));
  ASSERT_EQ(record.findings.size(), 1u);
  EXPECT_EQ(record.findings[0].cause, "host.clock_offset");
  EXPECT_EQ(record.findings[0].subject.host, "n0002");
  const GateResult result = gate_through(made.setup, to_line(record) + "\n", Tier::stage);
  ASSERT_EQ(result.nodes.at(1).name, "n0002");
  ASSERT_FALSE(result.nodes[1].findings.empty());
  EXPECT_EQ(result.nodes[1].findings[0].cause, "host.clock_offset") << result.nodes[1].findings[0].found;
}

TEST(HeldAgainstLimits, OtherwiseARecordStaysAsItIs) {
  const Made made;
  EXPECT_EQ(to_line(held_against_limits(made.setup, staged(made, 0.2))), to_line(staged(made, 0.2)));
  Record failed = staged(made, 76);
  failed.verdict = Verdict::blocked;
  failed.findings = {make_finding("stage.node_busy", {.host = "n0002"}, "a node nobody uses", "a run")};
  failed.sample = nullptr;
  EXPECT_EQ(to_line(held_against_limits(made.setup, failed)), to_line(failed));
}

TEST(SuiteOfTiers, ItKeepsTheChecksOfTheseTiersAndNoOthers) {
  const suites::GoodRun run = suites::good_run();
  EXPECT_THAT(checks_of(suite_of_tiers(run.suite, {Tier::link})),
              testing::UnorderedElementsAre("link.rail", "link.rdma", "link.cabling", "link.counters", "link.rdma_counters"));
  EXPECT_THAT(checks_of(suite_of_tiers(run.suite, {})), testing::IsEmpty());
}

TEST(GateThrough, TiersThatTheJobHasAreDemandedUpToTheOneAskedFor) {
  Made made;
  made.setup.job.tiers = {Tier::host, Tier::link};
  EXPECT_EQ(gate_through(made.setup, made.run.text(), Tier::link).exit_code, ExitCode::ready);
  EXPECT_EQ(gate_through(made.setup, made.without("pair.rail"), Tier::link).exit_code, ExitCode::ready);
  EXPECT_EQ(gate_through(made.setup, made.without("link.rail"), Tier::link).exit_code, ExitCode::inconclusive);
  EXPECT_EQ(gate_through(made.setup, made.without("link.rail"), Tier::host).exit_code, ExitCode::ready);
}

TEST(GateThrough, WithoutLinesNothingIsReady) {
  Made made;
  EXPECT_NE(gate_through(made.setup, "", Tier::host).exit_code, ExitCode::ready);
}

}  // namespace
}  // namespace fabricgate::launch
