#include <gmock/gmock.h>

#include "bootstrap/stage/stage.hpp"
#include "bootstrap/steps/step.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

NodeReport node(const std::string& name, NodeState state, std::vector<std::string> commands = {},
                std::string reason = "") {
  NodeReport report;
  report.name = name;
  report.state = state;
  report.commands = std::move(commands);
  report.reason = std::move(reason);
  report.steps = {{.id = "deploy", .state = state == NodeState::changed ? StepState::applied : StepState::unchanged}};
  return report;
}

NodeReport with_version(const std::string& name, const std::string& openmpi) {
  NodeReport report = node(name, NodeState::unchanged);
  report.facts = Facts{};
  if (!openmpi.empty()) report.facts->versions["openmpi"] = openmpi;
  return report;
}

TEST(StageText, EqualPlansAreFoldedAndOthersStayApart) {
  const StageReport report{
      .dry_run = true,
      .nodes = {node("gpu001", NodeState::planned, {"sysctl -w a=1"}),
                node("gpu002", NodeState::planned, {"sysctl -w a=1"}),
                node("gpu003", NodeState::planned, {"sysctl -w a=2"}), node("gpu004", NodeState::unchanged),
                node("gpu005", NodeState::unreachable, {}, "ssh.unreachable: refused")}};
  EXPECT_EQ(to_text(report, {}),
            "gpu[001-002]: planned\n    sysctl -w a=1\n"
            "gpu003: planned\n    sysctl -w a=2\n"
            "gpu004: unchanged\n"
            "gpu005: unreachable: ssh.unreachable: refused\n"
            "1 unchanged, 3 planned, 1 unreachable\n");
}

TEST(StageRecords, WhatNothingOnTheNodeKeepsIsMarkedWhetherItWasSetNowOrBefore) {
  StageReport report{.nodes = {node("a", NodeState::changed, {"ip link set dev e1 mtu 9000"}), node("b", NodeState::changed, {"sysctl -w a=1"}),
                               node("c", NodeState::unchanged), node("d", NodeState::unchanged)}};
  report.nodes[0].steps = report.nodes[3].steps = {{.id = "network", .state = StepState::unchanged, .kept = false}};
  report.nodes[1].steps = {{.id = "network", .state = StepState::applied}};
  const auto records = stage_records(report, {});
  for (const auto& [node, expected] : {std::pair{0, true}, {1, false}, {2, false}, {3, true}})
    EXPECT_EQ(records.at(static_cast<std::size_t>(node)).sample.at("lost_at_reboot"), expected) << node;
}

TEST(StageText, NoNodesAreSaidToBeNone) {
  EXPECT_EQ(to_text({}, {}), "no nodes\n");
}

TEST(StageVersions, NodeThatDiffersFromMostIsNamed) {
  StageReport report{.nodes = {with_version("a", "4.1.4"), with_version("b", "5.0.1"), with_version("c", "4.1.4")}};
  judge_versions(report);
  EXPECT_EQ(report.nodes[0].state, NodeState::unchanged);
  EXPECT_EQ(report.nodes[1].state, NodeState::failed);
  ASSERT_EQ(report.nodes[1].findings.size(), 1u);
  EXPECT_EQ(report.nodes[1].findings[0].cause, "host.versions_differ");
  EXPECT_EQ(report.nodes[1].findings[0].found, "openmpi 5.0.1");
  EXPECT_THAT(report.nodes[1].findings[0].expected, HasSubstr("4.1.4"));
}

TEST(StageVersions, MissingInstallationDiffersToo) {
  StageReport report{.nodes = {with_version("a", "4.1.4"), with_version("b", ""), with_version("c", "4.1.4")}};
  judge_versions(report);
  EXPECT_EQ(report.nodes[1].state, NodeState::failed);
}

TEST(StageVersions, NodeWithoutFactsOrWithPackagesToInstallIsNotJudged) {
  StageReport report{.nodes = {with_version("a", "4.1.4"), node("b", NodeState::unreachable), with_version("c", "")}};
  report.nodes[2].steps.push_back({.id = "packages", .state = StepState::planned});
  judge_versions(report);
  for (const NodeReport& each : report.nodes) EXPECT_TRUE(each.findings.empty()) << each.name;
}

TEST(StageRecords, ReadyNodesPassWithTheirSample) {
  const StageReport report{.agent_sha256 = "aa", .rank_sha256 = "bb", .nodes = {node("a", NodeState::changed)}};
  const auto records = stage_records(report, {"run", "inventory", "build", "default"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].check, "stage.node");
  EXPECT_EQ(records[0].verdict, Verdict::pass);
  EXPECT_EQ(records[0].sample.at("state"), "ready");
  EXPECT_EQ(records[0].sample.at("steps").at(0).at("state"), "done");
  EXPECT_EQ(records[0].sample.at("rank_sha256"), "bb");
}

TEST(StageRecords, NoOtherStateOpensTheGateEvenWithoutAFinding) {
  for (NodeState state : {NodeState::planned, NodeState::failed, NodeState::blocked, NodeState::unreachable}) {
    const auto records = stage_records({.nodes = {node("a", state)}}, {});
    ASSERT_EQ(records.size(), 1u);
    EXPECT_FALSE(opens_gate(records[0].verdict)) << to_string(state);
    EXPECT_TRUE(records[0].sample.is_null()) << to_string(state);
  }
}

TEST(StageRecords, PlanLeavesNone) {
  EXPECT_TRUE(stage_records({.dry_run = true, .nodes = {node("a", NodeState::unchanged)}}, {}).empty());
}

TEST(SelectNodes, RangesChooseInTheirOrderOnceAndUnknownNamesAreErrors) {
  Inventory inventory;
  for (const char* name : {"n1", "n2", "n3"}) {
    Node each;
    each.name = name;
    inventory.nodes.push_back(each);
  }
  EXPECT_EQ(*select_nodes(inventory, ""), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(*select_nodes(inventory, "n3,n[1-3]"), (std::vector<std::size_t>{2, 0, 1}));
  const auto unknown = select_nodes(inventory, "n[2-4]");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().what, HasSubstr("'n4'"));
}

TEST(LongestStage, NodesAreDoneByWindowsAndEachWaveOfRebootsAddsALookAndAStage) {
  Inventory inventory;
  inventory.ssh.window = 10;
  inventory.ssh.connect_timeout_s = 5;
  StageOptions options{.node_timeout_s = 90};
  EXPECT_EQ(longest_s(inventory, 1, options), 100);
  EXPECT_EQ(longest_s(inventory, 21, options), 300);
  options.reboot = {.allowed = true, .wave = {.nodes = 7}, .timeout_s = 50};
  EXPECT_EQ(longest_s(inventory, 21, options), 300 + 3 * (2 * 300 + 50));
}

}  // namespace
}  // namespace fabricgate::bootstrap
