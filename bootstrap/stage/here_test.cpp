#include "bootstrap/stage/here.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "bootstrap/stage/stage_testing.hpp"
#include "inventory/host/fake_host.hpp"
#include "inventory/host/process.hpp"
#include "inventory/host/real_host.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class StageHere : public testing::Test {
 protected:
  void SetUp() override {
    folder = testing::TempDir() + "stage_here_" + std::to_string(::getpid());
    inventory.nodes.push_back({.name = "", .spec = nullptr, .address = "127.0.0.1"});
    fs::create_directories(folder);
    options.agent_path = AGENT;
    ASSERT_TRUE(stage_within(folder, inventory, options));
  }
  void TearDown() override { fs::remove_all(folder); }

  NodeReport stage(Host& host) {
    const auto report = stage_here(inventory, 0, options, host, Deadline::in_seconds(60));
    EXPECT_TRUE(report) << report.error().what;
    return report && report->nodes.size() == 1 ? report->nodes[0] : NodeReport{};
  }

  /// A machine on which the agent answers with these facts; what else is run fails.
  static void answer_with(FakeHost& host, const Facts& facts) {
    host.on_run = [facts](const std::vector<std::string>& words) -> std::optional<CommandResult> {
      if (words.size() < 10 || words[3] != "look") return CommandResult{1, "", "not expected"};
      return CommandResult{0, "\n" + words[9] + " look none no 1.0 " + own_name() + " boot/uts\n" + frame_answer({.facts = facts}, words[9]), ""};
    };
  }

  /// A machine that another run has.
  static void refuse_with(FakeHost& host, const Holder& holder) {
    host.on_run = [holder](const std::vector<std::string>& words) -> std::optional<CommandResult> {
      if (words.size() < 10 || words[3] != "look") return CommandResult{1, "", "not expected"};
      return CommandResult{0, "\n" + words[9] + " look none no 1.0 " + own_name() + " boot/uts\n" + frame_answer({.in_use = holder}, words[9]), ""};
    };
  }

  const std::string name = own_name();
  std::string folder;
  Inventory inventory;
  StageOptions options;
};

TEST_F(StageHere, FirstRunDeploysAndTheSecondChangesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "the agent's lock in /run needs root";
  RealHost host;
  const NodeReport first = stage(host);
  ASSERT_EQ(first.state, NodeState::changed) << first.reason;
  EXPECT_EQ(*read_file(folder + "/opt/bin/fabricgate-rank"), "rank program 1");
  EXPECT_EQ(sha256_hex(*read_file(folder + "/opt/bin/fabricgate-agent")), sha256_hex(*read_file(AGENT)));
  const NodeReport second = stage(host);
  EXPECT_EQ(second.state, NodeState::unchanged) << second.reason;
  EXPECT_TRUE(second.commands.empty());
}

TEST_F(StageHere, ItsRecordAndJournalAreThoseOfAStageOverSsh) {
  if (::geteuid() != 0) GTEST_SKIP() << "the agent's lock in /run needs root";
  RealHost host;
  const auto report = stage_here(inventory, 0, options, host, Deadline::in_seconds(60));
  ASSERT_TRUE(report);
  const auto records = stage_records(*report, {.run = "test"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].check, "stage.node");
  EXPECT_EQ(records[0].sample.at("state"), "ready");
  EXPECT_EQ(records[0].sample.at("changed"), true);
  EXPECT_EQ(records[0].sample.at("steps").dump(),
            R"([{"id":"modules","state":"unchanged"},{"id":"deploy","state":"done"}])");
  EXPECT_TRUE(records[0].sample.at("clock_offset_s").is_null()) << "a clock tells nothing about itself";
  EXPECT_THAT(*read_file(folder + "/run/journal/" + name + ".jsonl"), HasSubstr("\"state\":\"changed\""));
}

TEST_F(StageHere, AMachineThatCannotTellItsNameOrEndsBeforeTheAgentAnswersIsNeverReady) {
  const auto ends_with = [&](int code, const std::string& words_of_look) {
    FakeHost host;
    host.on_run = [=](const std::vector<std::string>& words) -> std::optional<CommandResult> {
      return CommandResult{code, "\n" + words.at(9) + " look " + words_of_look + "\n", "uname: not found"};
    };
    const NodeReport report = stage(host);
    EXPECT_EQ(report.state, NodeState::failed) << words_of_look;
    return report.reason;
  };
  EXPECT_THAT(ends_with(95, "none no   /"), HasSubstr("`uname -n` says nothing (exit code 95); stderr: uname: not found"));
  EXPECT_THAT(ends_with(95, "none no 1.0 " + own_name() + " boot/uts"), HasSubstr("ended before the agent had answered"));
}

TEST_F(StageHere, AMachineOfAnotherNameIsNamedAndNotTouched) {
  inventory.nodes[0].name = "declared";
  RealHost host;
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::failed);
  EXPECT_EQ(node.reason, "host.identity_mismatch: the machine at its address calls itself " + name);
  EXPECT_EQ(node.hostname, own_host_name());
  EXPECT_FALSE(fs::exists(folder + "/opt"));
}

TEST_F(StageHere, AnAgentThatCannotRunIsAFinding) {
  options.agent_path = folder + "/agent";
  ASSERT_TRUE(write_file_atomic(options.agent_path, "#!/bin/sh\necho wrong architecture >&2; exit 0\n", 0755));
  RealHost host;
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::failed);
  ASSERT_FALSE(node.findings.empty());
  EXPECT_EQ(node.findings[0].cause, "stage.agent_failed");
  EXPECT_THAT(node.reason, HasSubstr("wrong architecture"));
}

TEST_F(StageHere, ANodeInUseIsRefusedAndNothingIsDeployed) {
  FakeHost host;
  Facts facts;
  facts.gpu_processes = {"7 python3"};
  answer_with(host, facts);
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::blocked);
  ASSERT_FALSE(node.findings.empty());
  EXPECT_EQ(node.findings[0].cause, "stage.node_busy");
  EXPECT_EQ(host.accesses.size(), 1u) << "nothing is run after the look";
}

TEST_F(StageHere, ANodeOfAnotherRunIsNamedWithItsHeadAndNothingIsDeployedWhateverIsAllowed) {
  FakeHost host;
  options.allow_busy = true;
  refuse_with(host, {{"r2", "head2", "", 1785406500, 600}, false, 1785407100});
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::blocked);
  ASSERT_EQ(node.findings.size(), 1u);
  EXPECT_EQ(node.findings[0].cause, "stage.node_busy");
  EXPECT_EQ(node.findings[0].found,
            "fabricgate run r2, led from head2 since 2026-07-30 10:15:00 UTC, has it between two of its jobs; free at "
            "2026-07-30 10:25:00 UTC at the latest");
  EXPECT_EQ(host.accesses.size(), 1u) << "nothing is run after the look";
}

TEST_F(StageHere, TheLeaseOfARunWhoseHeadWasKilledOnThisMachineIsNotWaitedFor) {
  if (::geteuid() != 0) GTEST_SKIP() << "the agent's lock in /run needs root";
  const pid_t head = ::fork();
  if (head == 0) {
    const auto taken = claim_node(folder + "/spool", {"r2", "here", process_mark(), 0, 600});
    ::_exit(taken && taken->claim ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(head, &status, 0), head);
  ASSERT_EQ(status, 0);
  RealHost host;
  EXPECT_EQ(stage(host).state, NodeState::changed);
}

TEST_F(StageHere, AStopWhileTheAgentWorksIsHeardByItAndWhatItIsInIsFinished) {
  const std::string at_work = folder + "/at-work", stopped = folder + "/stopped", finished = folder + "/finished";
  options.agent_path = folder + "/agent";
  const std::string slow = "#!/bin/sh\ntouch " + at_work + "\ncat > /dev/null\n[ -e " + stopped +
                           " ] && sleep 3 && touch " + finished + "\n";
  ASSERT_TRUE(write_file_atomic(options.agent_path, slow, 0755));
  options.stop = [&] { return fs::exists(at_work) && write_file_atomic(stopped, ""); };
  RealHost host;
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::interrupted) << node.reason;
  EXPECT_THAT(node.reason, HasSubstr("finishes the step it is in"));
  while (!fs::exists(finished)) ::usleep(20000);
}

TEST_F(StageHere, WithoutAStopTheAgentWorksToItsEndAlsoWhereOneCouldCome) {
  if (::geteuid() != 0) GTEST_SKIP() << "the agent's lock in /run needs root";
  options.stop = [] { return false; };
  RealHost host;
  EXPECT_EQ(stage(host).state, NodeState::changed);
}

TEST_F(StageHere, ACommandThatDoesNotEndFailsTheNode) {
  FakeHost host;  // it knows no command
  const NodeReport node = stage(host);
  EXPECT_EQ(node.state, NodeState::failed);
  ASSERT_FALSE(node.findings.empty());
  EXPECT_EQ(node.findings[0].cause, "stage.agent_failed");
}

TEST_F(StageHere, AMissingLocalProgramIsAnErrorThatNamesIt) {
  options.agent_path = folder + "/nothing";
  FakeHost host;
  const auto report = stage_here(inventory, 0, options, host, Deadline::in_seconds(60));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr("fabricgate-agent"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
