#include "launch/accept/share.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

using bootstrap::NodeReport;
using bootstrap::NodeState;

NodeReport node(std::size_t index, NodeState state) {
  NodeReport out;
  out.node = index;
  out.name = "gpu" + std::to_string(index);
  out.state = state;
  out.facts.emplace().versions = {{"openmpi", "4.1.4"}, {"ucx", "1.13"}};
  return out;
}

TEST(Share, NodesOfAllSharesComeInInventoryOrder) {
  const auto joined = join_shares(
      {to_text({node(0, NodeState::changed), node(2, NodeState::unchanged)}), to_text({node(1, NodeState::unchanged)})},
      false);
  ASSERT_EQ(joined.report.nodes.size(), 3U);
  EXPECT_EQ(joined.report.nodes[1].name, "gpu1");
  EXPECT_EQ(joined.report.nodes[0].state, NodeState::changed);
  EXPECT_TRUE(joined.lost.empty());
}

TEST(Share, ReasonCommandsAndFindingsSurviveTheWay) {
  NodeReport out = node(0, NodeState::blocked);
  out.reason = "stage.node_busy: job 7";
  out.commands = {"sysctl -w a=b"};
  out.findings = {make_finding("stage.node_busy", {.host = "gpu0"}, "free", "job 7")};
  out.steps = {{.id = "memlock", .state = bootstrap::StepState::applied}, {.id = "deploy", .state = bootstrap::StepState::unchanged}};
  out.clock_offset_s = 0.25;
  out.started_unix_s = 1000;
  const auto back = nodes_from_text(to_text({out}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at(0).reason, out.reason);
  EXPECT_EQ(back->at(0).commands, out.commands);
  EXPECT_EQ(back->at(0).findings, out.findings);
  ASSERT_EQ(back->at(0).steps.size(), 2U);
  EXPECT_EQ(back->at(0).steps[0].id, "memlock");
  EXPECT_EQ(back->at(0).steps[0].state, bootstrap::StepState::applied);
  EXPECT_EQ(back->at(0).clock_offset_s, 0.25);
  EXPECT_EQ(back->at(0).started_unix_s, 1000);
}

TEST(Share, AShareThatDidNotArriveOrIsBrokenIsNamedByItsRank) {
  const auto joined = join_shares({to_text({node(0, NodeState::unchanged)}), std::nullopt, "[{]"}, false);
  EXPECT_EQ(joined.lost, (std::vector<int>{1, 2}));
}

TEST(Share, VersionsAreComparedAcrossShares) {
  NodeReport odd = node(2, NodeState::unchanged);
  odd.facts->versions["ucx"] = "1.15";
  const auto joined =
      join_shares({to_text({node(0, NodeState::unchanged), odd}), to_text({node(1, NodeState::unchanged)})}, false);
  EXPECT_EQ(joined.report.nodes[2].state, NodeState::failed);
  EXPECT_EQ(exit_code_of(joined.report), ExitCode::not_ready);
}

TEST(Share, TwoEntriesOfOneMachineAreToldAcrossShares) {
  NodeReport right = node(0, NodeState::changed), other = node(1, NodeState::failed);
  right.hostname = other.hostname = "gpu0";
  right.machine = other.machine = "boot/uts";
  other.findings = {make_finding("host.identity_mismatch", {.host = "gpu1"}, "gpu1", "gpu0")};
  const auto joined = join_shares({to_text({right}), to_text({other})}, false);
  EXPECT_TRUE(joined.report.nodes[0].findings.empty());
  EXPECT_EQ(joined.report.nodes[1].findings.at(0).subject.peer, "gpu0");
  EXPECT_NE(joined.report.nodes[1].reason.find("lead to this one machine"), std::string::npos);
}

TEST(Share, APlanWithSomethingToDoExitsZeroAndAnUnreachableNodeOne) {
  bootstrap::StageReport report{.dry_run = true, .nodes = {node(0, NodeState::planned)}};
  report.nodes[0].findings = {make_finding("host.versions_differ", {.host = "gpu0"}, "a", "b")};
  EXPECT_EQ(exit_code_of(report), ExitCode::ready);
  report.nodes.push_back(node(1, NodeState::unreachable));
  EXPECT_EQ(exit_code_of(report), ExitCode::not_ready);
}

TEST(Share, InterruptedIsInconclusiveUnlessSomethingFailed) {
  NodeReport left = node(1, NodeState::interrupted);
  left.findings = {make_finding("launch.interrupted", {.host = "gpu1"}, "a", "b")};
  auto joined = join_shares({to_text({node(0, NodeState::changed), left})}, false);
  EXPECT_EQ(joined.report.nodes[1].state, NodeState::interrupted);
  EXPECT_EQ(exit_code_of(joined.report), ExitCode::inconclusive);
  joined.report.nodes.push_back(node(2, NodeState::failed));
  EXPECT_EQ(exit_code_of(joined.report), ExitCode::not_ready);
}

TEST(Share, NoNodesIsInconclusive) {
  EXPECT_EQ(exit_code_of({}), ExitCode::inconclusive);
}

}  // namespace
}  // namespace fabricgate::launch
