/// Whom the gate blames and whom it does not: faults put into a good run of four nodes and two rails.
#include <algorithm>
#include <functional>

#include "suites/check.hpp"
#include "suites/fleet.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

GateResult judge(const GoodRun& run, std::optional<Tier> through = {}) {
  return gate({.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity, .through = through},
              {{"records.jsonl", run.text()}});
}

/// Replaces the collective by one over `hosts`.
void collective_over(GoodRun& run, const std::vector<std::string>& hosts) {
  change(run, "collective.allreduce", [&](Record& record) {
    record.hosts = hosts;
    record.sample = good_collective(hosts, 2e9 / 8);
    return true;
  });
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

void halve_rail(Record& record) {
  slow_down(record.sample["a_to_b"], 0.5);
  slow_down(record.sample["b_to_a"], 0.5);
}

TEST(Gate, ARailAtHalfRateIsBlamedOnItsNodeAndPartnersPass) {
  GoodRun run = good_run();
  change(run, "pair.rail", [](Record& record) {
    if (!about(record, "n0002") || record.rail != "rail0") return false;
    halve_rail(record);
    return true;
  });
  const GateResult result = judge(run);
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.rail_slow n0002 rail0")));
  EXPECT_EQ(result.nodes[1].left_in, Tier::pair);
}

TEST(Gate, ADownLinkExcusesThePairsOfItsNodeAndOfNobodyElse) {
  GoodRun run = good_run();
  change(run, "link.rail", [](Record& record) {
    if (!about(record, "n0003") || record.rail != "rail1") return false;
    record.sample["now"]["carrier"] = false;
    return true;
  });
  drop(run, [](const Record& record) { return about(record, "n0003") && record.tier == Tier::pair; });
  collective_over(run, {"n0001", "n0002", "n0004"});
  GateResult result = judge(run);
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("link.down n0003 rail1")));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
  EXPECT_TRUE(result.missing.empty());
  drop(run, [](const Record& record) { return record.check == "pair.rail" && about(record, "n0001") && about(record, "n0002"); });
  result = judge(run);
  EXPECT_THAT(verdicts(result), ElementsAre("not_run", "not_run", "fail", "pass"));
}

TEST(Gate, ANodeWhosePairsAreMissingIsNamedAndItsPartnersPass) {
  GoodRun run = good_run();
  drop(run, [](const Record& record) { return record.tier == Tier::pair && about(record, "n0004"); });
  collective_over(run, {"n0001", "n0002", "n0003"});
  const GateResult result = judge(run);
  EXPECT_EQ(result.exit_code, ExitCode::inconclusive);
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "pass", "not_run"));
  EXPECT_THAT(result.reason, HasSubstr("n0004"));
}

TEST(Gate, WhatTheLauncherSaysOfALostNodeIsItsFinding) {
  GoodRun run = good_run();
  drop(run, [](const Record& record) { return record.tier >= Tier::pair && record.hosts.size() == 2 && about(record, "n0004"); });
  collective_over(run, {"n0001", "n0002", "n0003"});
  run.records.push_back({.identity = run.identity, .check = "pair.rail", .tier = Tier::pair, .hosts = {"n0004"}, .verdict = Verdict::fail,
                         .reason = "died", .findings = {make_finding("launch.daemon_lost", {.host = "n0004"}, "alive", "died")}});
  const GateResult result = judge(run);
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "pass", "fail"));
  EXPECT_THAT(blamed(result), ElementsAre("launch.daemon_lost n0004"));
}

TEST(Gate, AnOptionalNodeThatIsAbsentIsShownAndDoesNotCloseTheGate) {
  GoodRun run = good_run();
  run.inventory.nodes[3].required = false;
  drop(run, [](const Record& record) { return record.hosts.size() <= 2 && about(record, "n0004"); });
  change(run, "host.fleet", [](Record& record) {
    record.hosts = {"n0001", "n0002", "n0003"};
    record.sample["hosts"].erase("n0004");
    return true;
  });
  collective_over(run, {"n0001", "n0002", "n0003"});
  const GateResult result = judge(run);
  EXPECT_EQ(result.text, "READY (emulated)") << result.reason;
  EXPECT_EQ(result.nodes[3].verdict, Verdict::not_run);
}

TEST(Gate, LowMemlockOfOneNodeIsThatNodesFailure) {
  GoodRun run = good_run();
  change(run, "host.facts", [](Record& record) {
    if (!about(record, "n0001")) return false;
    record.sample["memlock_soft_bytes"] = 65536;
    return true;
  });
  const GateResult result = judge(run, Tier::host);
  EXPECT_THAT(blamed(result), ElementsAre("rdma.memlock_limit n0001"));
  EXPECT_THAT(verdicts(result), ElementsAre("fail", "pass", "pass", "pass"));
}

TEST(Gate, AKernelSettingThatIsNotAsDeclaredIsThatNodesFailure) {
  GoodRun run = good_run();
  change(run, "host.facts", [](Record& record) {
    if (!about(record, "n0001")) return false;
    record.sample["sysctl"].begin().value() = "otherwise";
    return true;
  });
  const GateResult result = judge(run, Tier::host);
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("host.sysctl_mismatch n0001")));
  EXPECT_THAT(verdicts(result), ElementsAre("fail", "pass", "pass", "pass"));
}

TEST(Gate, DuringARunOnlyTheTiersUntilNowAreDemanded) {
  GoodRun run = good_run();
  drop(run, [](const Record& record) { return record.tier >= Tier::pair || record.check == "link.counters"; });
  EXPECT_EQ(judge(run, Tier::link).exit_code, ExitCode::ready);
  EXPECT_EQ(judge(run).exit_code, ExitCode::inconclusive);
}

/// Gives all nodes the facts `edit` makes and the fleet the digest of them.
void change_facts(GoodRun& run, const std::string& host, const std::function<void(nlohmann::json&)>& edit) {
  change(run, "host.facts", [&](Record& record) {
    if (!about(record, host)) return false;
    edit(record.sample);
    return true;
  });
  std::vector<const Record*> facts;
  for (const Record& record : run.records)
    if (record.check == "host.facts") facts.push_back(&record);
  change(run, "host.fleet", [&](Record& record) {
    record.sample = fleet_sample(facts);
    return true;
  });
}

TEST(Gate, WhatStagingChangedGoesWithTheNode) {
  GoodRun run = good();
  change(run, "stage.node", [](Record& record) {
    record.sample["changed"] = record.hosts[0] == "n0002";
    record.sample["lost_at_reboot"] = record.hosts[0] == "n0002";
    if (record.hosts[0] == "n0002") record.sample["steps"][0]["state"] = "done";
    return true;
  });
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::ready);
  for (const NodeResult& node : result.nodes) EXPECT_EQ(node.changed && node.lost_at_reboot, node.name == "n0002") << node.name;
}

TEST(Gate, ANodeThatTookAnothersNameIsOnePrimaryFinding) {
  GoodRun run = good_run();
  change_facts(run, "n0002", [](nlohmann::json& facts) { facts["hostname"] = "n0001"; });
  const GateResult result = judge(run);
  EXPECT_THAT(blamed(result), ElementsAre("launch.hostname_collision n0002 <-> n0001"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
}

TEST(Gate, AnAddressTakenFromAnotherNodeIsBlamedOnTheTaker) {
  GoodRun run = good_run();
  change_facts(run, "n0003", [](nlohmann::json& facts) { facts["netdevs"][0]["addresses"].push_back("10.20.0.1/16"); });
  EXPECT_THAT(blamed(judge(run)), ElementsAre(StartsWith("launch.duplicate_address n0003")));
}

TEST(Gate, TheOneNodeWithAnotherVersionIsBlamed) {
  GoodRun run = good_run();
  change_facts(run, "n0004", [](nlohmann::json& facts) { facts["versions"]["ucx"] = "1.9"; });
  const GateResult result = judge(run);
  EXPECT_THAT(blamed(result), ElementsAre("host.versions_differ n0004"));
}

TEST(Gate, AFleetDigestThatDiffersFromTheFactsIsNotBelieved) {
  GoodRun run = good_run();
  change(run, "host.fleet", [](Record& record) {
    for (auto& host : record.sample["hosts"]) host["versions"]["libc"] = "2.40";
    return true;
  });
  EXPECT_THAT(blamed(judge(run)), testing::Contains(StartsWith("gate.verdict_edited")));
}

TEST(Gate, SoftwareRailsNobodyDeclaredAreAFailure) {
  GoodRunShape shape;
  shape.emulated = false;
  GoodRun run = good_run(shape);
  change(run, "host.facts", [](Record& record) {
    for (auto& netdev : record.sample["netdevs"])
      if (netdev["name"] == "fab0" && about(record, "n0001")) netdev["driver"] = "veth";
    return true;
  });
  EXPECT_THAT(blamed(judge(run, Tier::host)), ElementsAre(StartsWith("host.emulation_undeclared n0001 rail0")));
}

TEST(Gate, ASlowCollectiveOverGoodPairsKeepsTheGateShut) {
  GoodRun run = good_run();
  change(run, "collective.allreduce", [](Record& record) {
    record.sample = good_collective(record.hosts, 0.3 * 2e9 / 8);
    return true;
  });
  const GateResult result = judge(run);
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("collective.below_floor "));
}

TEST(Gate, AFasterLinkThanDeclaredIsNotEvidence) {
  GoodRun run = good_run();
  change(run, "pair.rail", [](Record& record) {
    if (!about(record, "n0001") || !about(record, "n0002")) return false;
    slow_down(record.sample["a_to_b"], 40);
    return true;
  });
  const GateResult result = judge(run);
  EXPECT_NE(result.exit_code, ExitCode::ready);
  EXPECT_THAT(blamed(result), testing::Contains(StartsWith("bench.impossible_number")));
}

TEST(Gate, OtherLimitsJudgeStoredSamplesAgain) {
  GoodRun run = good_run();
  run.limits.metrics["pair.bandwidth_share"].low = 0.95;  // good runs are at 0.93
  const GateInput input{.inventory = run.inventory, .suite = run.suite, .limits = run.limits, .identity = run.identity, .new_limits = true};
  const GateResult result = gate(input, {{"records.jsonl", run.text()}});
  EXPECT_EQ(result.text, "NOT READY");
  for (const std::string& text : blamed(result)) EXPECT_THAT(text, testing::Not(HasSubstr("gate."))) << text;
}

}  // namespace
}  // namespace fabricgate::suites
