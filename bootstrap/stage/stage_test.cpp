#include "bootstrap/stage/stage.hpp"

#include <gmock/gmock.h>

#include "bootstrap/ssh/sshd_fixture.hpp"
#include "bootstrap/stage/stage_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// Over a real sshd.
class Stage : public SshdTest {
 protected:
  void SetUp() override {
    SshdTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    options.agent_path = AGENT;
    ASSERT_TRUE(stage_within(folder, inventory, options));
  }

  StageReport finish(Result<StageReport> report) {
    EXPECT_TRUE(report) << report.error().what;
    return report ? *report : StageReport{};
  }
  StageReport plan() { return finish(plan_nodes(inventory, all(), options, Deadline::in_seconds(600))); }
  StageReport stage() { return finish(stage_nodes(inventory, all(), options, Deadline::in_seconds(600))); }
  std::vector<std::size_t> all() const {
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < inventory.nodes.size(); ++i) nodes.push_back(i);
    return nodes;
  }
  static std::vector<NodeState> states(const StageReport& report) {
    std::vector<NodeState> out;
    for (const auto& node : report.nodes) out.push_back(node.state);
    return out;
  }
  /// The real agent with a checksum that no other test's has, so that what is left of it can be told: /var/tmp is the
  /// whole machine's.
  void use_own_agent() {
    options.agent_path = folder + "/own-agent";
    const std::string program = *read_file(AGENT) + folder;
    ASSERT_TRUE(write_file_atomic(options.agent_path, program, 0755));
    own_agent = "fabricgate-agent-" + sha256_hex(program).substr(0, 16);
  }
  /// Files of that agent outside the install folder.
  std::vector<std::string> spares() const {
    std::vector<std::string> found;
    std::error_code ignored;  // folders of other tests come and go
    for (const auto& entry : fs::directory_iterator("/var/tmp"))
      for (const auto& file : fs::directory_iterator(entry.path(), ignored))
        if (file.path().filename().string().rfind(own_agent, 0) == 0) found.push_back(file.path());
    return found;
  }
  static std::string cause(const NodeReport& node) { return node.findings.empty() ? "none" : node.findings[0].cause; }

  const std::string name = own_name();
  StageOptions options;
  std::string own_agent;
};

TEST_F(Stage, PlanPrintsWhatWouldBeTypedAndLeavesNothing) {
  use_own_agent();
  const auto report = plan();
  ASSERT_THAT(states(report), ElementsAre(NodeState::planned)) << to_text(report, inventory);
  EXPECT_THAT(to_text(report, inventory),
              HasSubstr("install -D -m 0755 fabricgate-rank " + folder + "/opt/bin/fabricgate-rank"));
  EXPECT_TRUE(report.nodes[0].facts);
  EXPECT_TRUE(report.nodes[0].clock_offset_s);
  EXPECT_FALSE(fs::exists(folder + "/opt"));
  EXPECT_THAT(spares(), testing::IsEmpty());
}

TEST_F(Stage, FirstRunDeploysAndTheSecondChangesNothing) {
  ASSERT_THAT(states(stage()), ElementsAre(NodeState::changed));
  EXPECT_EQ(*read_file(folder + "/opt/bin/fabricgate-rank"), "rank program 1");
  EXPECT_EQ(sha256_hex(*read_file(folder + "/opt/bin/fabricgate-agent")), sha256_hex(*read_file(AGENT)));
  const auto again = stage();
  EXPECT_THAT(states(again), ElementsAre(NodeState::unchanged)) << to_text(again, inventory);
  EXPECT_TRUE(again.nodes[0].commands.empty());
  EXPECT_THAT(states(plan()), ElementsAre(NodeState::unchanged));
}

TEST_F(Stage, UnstageDeploysNothingLeavesNoAgentAndKeepsWhatAStageDeployed) {
  use_own_agent();
  options.undo = true;
  const auto report = stage();
  EXPECT_THAT(states(report), ElementsAre(NodeState::unchanged)) << to_text(report, inventory);
  EXPECT_TRUE(report.nodes[0].commands.empty());
  EXPECT_FALSE(fs::exists(folder + "/opt/bin"));
  EXPECT_FALSE(fs::exists(folder + "/opt/agent"));
  EXPECT_THAT(spares(), testing::IsEmpty());
  options.undo = false;
  stage();
  options.undo = true;
  EXPECT_THAT(states(stage()), ElementsAre(NodeState::unchanged));
  EXPECT_EQ(*read_file(folder + "/opt/bin/fabricgate-rank"), "rank program 1");
}

TEST_F(Stage, AlteredProgramsAreReplaced) {
  stage();
  ASSERT_TRUE(write_file_atomic(folder + "/opt/bin/fabricgate-rank", "rank prog", 0755));
  const std::string agent = fs::canonical(folder + "/opt/bin/fabricgate-agent");
  ASSERT_TRUE(write_file_atomic(agent, "#!/bin/sh\nexit 0\n", 0755));
  EXPECT_THAT(states(stage()), ElementsAre(NodeState::changed));
  EXPECT_EQ(*read_file(folder + "/opt/bin/fabricgate-rank"), "rank program 1");
  EXPECT_EQ(sha256_hex(*read_file(agent)), sha256_hex(*read_file(AGENT)));
}

TEST_F(Stage, OneDeadNodeDoesNotStopTheOthers) {
  inventory.nodes.resize(3, inventory.nodes[0]);
  inventory.nodes[1].name = "beta";
  inventory.nodes[1].address = "127.0.0.9";  // nobody listens there
  inventory.nodes[2].name = "gamma";
  int heard = 0;
  const auto report =
      finish(stage_nodes(inventory, all(), options, Deadline::in_seconds(600), [&](const NodeReport&) { ++heard; }));
  EXPECT_EQ(heard, 3);
  EXPECT_EQ(report.nodes[0].state, NodeState::changed);
  EXPECT_EQ(report.nodes[1].state, NodeState::unreachable);
  EXPECT_EQ(cause(report.nodes[1]), "ssh.unreachable");
  EXPECT_NE(report.nodes[2].state, NodeState::unreachable);
}

TEST_F(Stage, ChangedHostKeyBlocksTheNode) {
  trust("other");
  const auto report = stage();
  EXPECT_THAT(states(report), ElementsAre(NodeState::blocked));
  EXPECT_EQ(cause(report.nodes[0]), "ssh.host_key_changed");
  EXPECT_FALSE(fs::exists(folder + "/opt"));
}

TEST_F(Stage, AgentThatGivesNoAnswerIsAFindingNotASuccess) {
  options.agent_path = folder + "/agent";
  ASSERT_TRUE(write_file_atomic(options.agent_path, "#!/bin/sh\necho wrong architecture >&2; exit 0\n", 0755));
  const auto report = stage();
  ASSERT_THAT(states(report), ElementsAre(NodeState::failed));
  EXPECT_EQ(cause(report.nodes[0]), "stage.agent_failed");
  EXPECT_THAT(report.nodes[0].reason, HasSubstr("wrong architecture"));
  EXPECT_FALSE(fs::exists(folder + "/opt/bin/fabricgate-rank"));
}

TEST_F(Stage, BusyHookBlocksWithoutTouchingTheNodeUnlessTold) {
  inventory.hooks["busy"] = "exit 1";
  const auto report = stage();
  EXPECT_THAT(states(report), ElementsAre(NodeState::blocked));
  EXPECT_EQ(cause(report.nodes[0]), "stage.node_busy");
  EXPECT_FALSE(fs::exists(folder + "/opt"));
  options.allow_busy = true;
  EXPECT_THAT(states(stage()), ElementsAre(NodeState::changed));
}

TEST_F(Stage, ANodeOfAnotherRunIsNamedAndNotTouchedWhateverIsAllowed) {
  const auto other = claim_node(folder + "/spool", {"r2", "head2", "", 0, 600});
  ASSERT_TRUE(other && other->claim);
  options.allow_busy = true;
  const auto report = stage();
  ASSERT_THAT(states(report), ElementsAre(NodeState::blocked)) << to_text(report, inventory);
  EXPECT_EQ(cause(report.nodes[0]), "stage.node_busy");
  EXPECT_THAT(report.nodes[0].reason, HasSubstr("fabricgate run r2, led from head2"));
  EXPECT_FALSE(fs::exists(folder + "/opt/bin")) << "nothing deployed beside the agent";
}

TEST_F(Stage, AMachineOfAnotherNameIsNamedAndNotTouched) {
  use_own_agent();
  inventory.nodes[0].name = "declared";
  for (const auto& report : {plan(), stage()}) {
    ASSERT_THAT(states(report), ElementsAre(NodeState::failed)) << to_text(report, inventory);
    EXPECT_EQ(report.nodes[0].reason, "host.identity_mismatch: the machine at its address calls itself " + name);
    EXPECT_EQ(report.nodes[0].findings.size(), 1u);
  }
  EXPECT_FALSE(fs::exists(folder + "/opt"));
  EXPECT_FALSE(fs::exists(folder + "/spool"));
  EXPECT_THAT(spares(), testing::IsEmpty());
}

TEST_F(Stage, OfTwoEntriesOfOneMachineTheOneWithAnotherNameIsRefusedAndBothAreNamed) {
  inventory.nodes.resize(2, inventory.nodes[0]);
  inventory.nodes[0].name = "beta";
  const auto report = stage();
  ASSERT_THAT(states(report), ElementsAre(NodeState::failed, NodeState::changed)) << to_text(report, inventory);
  EXPECT_EQ(cause(report.nodes[0]), "host.identity_mismatch");
  EXPECT_EQ(report.nodes[0].findings[0].subject.peer, name);
  EXPECT_THAT(report.nodes[0].reason, HasSubstr("the addresses of beta and " + name + " lead to this one machine"));
}

TEST_F(Stage, SharesDivideTheNodes) {
  inventory.nodes.resize(3, inventory.nodes[0]);
  inventory.nodes[1].name = "beta";
  inventory.nodes[2].name = "gamma";
  options.share_count = 2;
  options.share_index = 1;
  const auto report = plan();
  ASSERT_EQ(report.nodes.size(), 1u);
  EXPECT_EQ(report.nodes[0].name, "beta");
}

TEST_F(Stage, JournalTellsHowTheNodeEnded) {
  stage();
  const auto journal = read_file(folder + "/run/journal/" + name + ".jsonl");
  ASSERT_TRUE(journal);
  EXPECT_THAT(*journal, HasSubstr("\"event\":\"started\""));
  EXPECT_THAT(*journal, HasSubstr("\"state\":\"changed\""));
}

TEST_F(Stage, StopWhileTheAgentWorksLeavesEveryNodeInterruptedAndTheNextRunGoesOn) {
  inventory.nodes.resize(2, inventory.nodes[0]);
  inventory.nodes[1].name = "beta";
  inventory.ssh.window = 1;
  const std::string agent = options.agent_path, mark = folder + "/mark";
  options.agent_path = folder + "/agent";
  const std::string slow = "#!/bin/sh\ntouch " + mark + "\ncat > /dev/null\nsleep 600\n";
  ASSERT_TRUE(write_file_atomic(options.agent_path, slow, 0755));
  options.stop = [&] { return fs::exists(mark); };
  const auto report = stage();
  ASSERT_THAT(states(report), ElementsAre(NodeState::interrupted, NodeState::interrupted))
      << to_text(report, inventory);
  EXPECT_EQ(cause(report.nodes[0]), "launch.interrupted");
  EXPECT_THAT(report.nodes[0].reason, HasSubstr("finishes the step it is in"));
  EXPECT_THAT(report.nodes[1].reason, HasSubstr("before anything was done"));
  const auto records = stage_records(report, {});
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) EXPECT_EQ(record.verdict, Verdict::inconclusive);
  options.agent_path = agent;
  options.stop = {};
  inventory.nodes.resize(1);
  EXPECT_THAT(states(stage()), ElementsAre(NodeState::changed));
}

TEST_F(Stage, StopDuringAnUploadLeavesNoPartOfTheFile) {
  const std::string bin = folder + "/opt/bin";
  ASSERT_TRUE(write_file_atomic(options.rank_path, std::string(std::size_t{48} << 20, 'x'), 0755));
  bool stopped = false;
  options.stop = [&] { return stopped = stopped || (fs::exists(bin) && !fs::is_empty(bin)); };
  const auto report = stage();
  ASSERT_THAT(states(report), ElementsAre(NodeState::interrupted)) << to_text(report, inventory);
  EXPECT_EQ(report.nodes[0].findings.size(), 1u);
  while (!fs::is_empty(bin)) ::usleep(20000);  // the node's shell removes it
}

TEST_F(Stage, InterruptedPlanRemovesItsSpareAgent) {
  use_own_agent();
  bool stopped = false;
  options.stop = [&] { return stopped = stopped || !spares().empty(); };
  const auto report = plan();
  EXPECT_THAT(states(report), ElementsAre(NodeState::interrupted)) << to_text(report, inventory);
  EXPECT_TRUE(stopped) << "the spare was seen";
  EXPECT_THAT(spares(), testing::IsEmpty());
}

TEST_F(Stage, AFailureBeforeTheStopIsStillAFailure) {
  trust("other");
  inventory.nodes.resize(2, inventory.nodes[0]);
  inventory.nodes[1].name = "beta";
  inventory.ssh.window = 1;
  bool ended = false;
  options.stop = [&] { return ended; };
  const auto report = finish(
      stage_nodes(inventory, all(), options, Deadline::in_seconds(600), [&](const NodeReport&) { ended = true; }));
  EXPECT_THAT(states(report), ElementsAre(NodeState::blocked, NodeState::interrupted)) << to_text(report, inventory);
}

TEST_F(Stage, MissingLocalProgramStopsBeforeAnyConnection) {
  options.agent_path = folder + "/nothing";
  const auto report = stage_nodes(inventory, all(), options, Deadline::in_seconds(600));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr("fabricgate-agent"));
}

TEST_F(Stage, AKeyThatCannotBeReadLeavesNoRunFolder) {
  inventory.ssh.key = folder + "/nothing";
  const auto report = stage_nodes(inventory, all(), options, Deadline::in_seconds(600));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr(folder + "/nothing"));
  EXPECT_FALSE(fs::exists(folder + "/run"));
}

TEST_F(Stage, AnUnknownStepIsRefusedBeforeAnyConnectionWithTheNearestOne) {
  options.only_steps = {"packages", "memlok"};
  const auto report = stage_nodes(inventory, all(), options, Deadline::in_seconds(600));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::parse);
  EXPECT_THAT(report.error().what, HasSubstr("did you mean 'memlock'"));
  EXPECT_FALSE(fs::exists(folder + "/run"));
}

TEST_F(Stage, PassedDeadlineLeavesEveryNodeWithAReason) {
  const auto report = finish(stage_nodes(inventory, all(), options, Deadline::in_seconds(-1)));
  ASSERT_EQ(report.nodes.size(), 1u);
  EXPECT_NE(report.nodes[0].state, NodeState::unchanged);
  EXPECT_FALSE(report.nodes[0].reason.empty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
