#include "bootstrap/agent/serve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "inventory/host/fake_host.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "serve-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    desired.node = "n1";
    desired.sysctl = {{"net.core.rmem_max", "9"}};
    desired.management = *parse_cidr("10.0.0.0/24");
    host.files["/proc/sys/net/core/rmem_max"] = "1\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  AgentAnswer ask(AgentOp op, const char* step = "sysctl") {
    return serve({.nonce = "0",
                  .op = op,
                  .desired = to_json_value(desired),
                  .run = "r1",
                  .occupant = {"r1", "h1", "", 0, 600},
                  .journal = folder + "/a/journal.jsonl",
                  .only_steps = {step},
                  .allow_busy = allow_busy,
                  .deadline_s = 30},
                 host);
  }
  std::vector<nlohmann::json> journal() {
    std::vector<nlohmann::json> out;
    std::istringstream lines(*read_file(folder + "/a/journal.jsonl"));
    for (std::string line; std::getline(lines, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }

  std::string folder;
  Desired desired;
  FakeHost host;
  bool allow_busy = false;
};

TEST_F(ServeTest, APlanChangesNothing) {
  const AgentAnswer answer = ask(AgentOp::plan);
  ASSERT_EQ(answer.steps.size(), 1u);
  EXPECT_EQ(answer.steps[0].state, StepState::planned);
  EXPECT_THAT(answer.steps[0].commands, testing::Contains("sysctl -w net.core.rmem_max=9"));
  EXPECT_THAT(host.accesses_of("write "), IsEmpty());
  EXPECT_THAT(host.accesses_of("set "), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder + "/a"));
}

TEST_F(ServeTest, ApplyChangesVerifiesAndTheSecondTimeFindsNothingToDo) {
  EXPECT_EQ(ask(AgentOp::apply).steps.at(0).state, StepState::applied);
  EXPECT_EQ(host.files.at("/proc/sys/net/core/rmem_max"), "9\n");
  const AgentAnswer again = ask(AgentOp::apply);
  EXPECT_EQ(again.steps.at(0).state, StepState::unchanged);
  EXPECT_THAT(again.steps[0].commands, IsEmpty());
  ASSERT_EQ(journal().size(), 2u) << "only what changed is journalled";
  EXPECT_EQ(journal()[0]["event"], "started");
  EXPECT_EQ(journal()[1]["event"], "finished");
  EXPECT_EQ(journal()[1]["state"], "applied");
  EXPECT_EQ(journal()[0]["plan"], journal()[1]["plan"]);
  EXPECT_EQ(journal()[0]["run"], "r1");
}

TEST_F(ServeTest, ALimitOfTheRunningAgentIsNoFaultOfTheNodeThatWasMended) {
  desired.memlock_bytes = UINT64_MAX;
  const std::string low = "Max locked memory         65536                65536                bytes\n";
  host.files["/proc/self/stat"] = "9 (agent) S 7 0\n";
  host.files["/proc/self/limits"] = low;
  host.files["/proc/7/stat"] = "7 (sshd) S 1 0\n";
  host.files["/proc/7/comm"] = "sshd\n";
  host.files["/proc/7/limits"] = low;
  host.on_memlock = [&](int, std::uint64_t) {
    host.files["/proc/7/limits"] = "Max locked memory         unlimited            unlimited            bytes\n";
  };
  const AgentAnswer answer = ask(AgentOp::apply, "memlock");
  EXPECT_EQ(answer.steps.at(0).state, StepState::applied) << answer.steps[0].error;
  EXPECT_THAT(answer.steps[0].findings, IsEmpty());
}

TEST_F(ServeTest, UnstageTakesAwayWhatWasLeftAndTheSecondTimeFindsNothing) {
  ask(AgentOp::apply);
  const AgentAnswer plan = ask(AgentOp::plan_undo);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].state, StepState::planned);
  EXPECT_THAT(plan.steps[0].commands, testing::Contains("rm /etc/sysctl.d/90-fabricgate.conf"));
  EXPECT_TRUE(host.files.count("/etc/sysctl.d/90-fabricgate.conf"));
  EXPECT_EQ(ask(AgentOp::undo).steps.at(0).state, StepState::applied);
  EXPECT_FALSE(host.files.count("/etc/sysctl.d/90-fabricgate.conf"));
  EXPECT_EQ(ask(AgentOp::undo).steps.at(0).state, StepState::unchanged);
  EXPECT_EQ(journal().back()["state"], "applied");
}

TEST_F(ServeTest, AChangeThatDoesNotStickIsAFailure) {
  host.on_write = [&](const std::string& path, const std::string&) {
    if (path == "/proc/sys/net/core/rmem_max") host.files[path] = "1\n";
  };
  const AgentAnswer answer = ask(AgentOp::apply);
  EXPECT_EQ(answer.steps.at(0).state, StepState::failed);
  EXPECT_THAT(answer.steps[0].error, HasSubstr("still to do after it was done: sysctl -w net.core.rmem_max=9"));
  ASSERT_EQ(answer.steps[0].findings.size(), 1u);
  EXPECT_EQ(answer.steps[0].findings[0].cause, "stage.step_failed");
}

TEST_F(ServeTest, AFileThatDoesNotStickIsNamedWithoutItsText) {
  const std::string path = "/etc/sysctl.d/90-fabricgate.conf";
  host.on_write = [&](const std::string& written, const std::string&) {
    if (written == path) host.files[path] = "other";
  };
  const AgentAnswer answer = ask(AgentOp::apply);
  ASSERT_EQ(answer.steps.at(0).state, StepState::failed);
  EXPECT_THAT(answer.steps[0].error, HasSubstr(path));
  EXPECT_THAT(answer.steps[0].error, testing::Not(HasSubstr("\n")));
}

TEST_F(ServeTest, AFullDiskIsTheFindingAndNotItsEcho) {
  host.errors.emplace("write /etc/sysctl.d/90-fabricgate.conf",
                      error_from_errno("write /etc/sysctl.d/90-fabricgate.conf", ENOSPC));
  const AgentAnswer answer = ask(AgentOp::apply);
  EXPECT_EQ(answer.steps.at(0).state, StepState::failed);
  ASSERT_EQ(answer.steps[0].findings.size(), 1u);
  EXPECT_EQ(answer.steps[0].findings[0].cause, "stage.disk_full");
  EXPECT_EQ(journal().back()["state"], "failed");
}

TEST_F(ServeTest, WithoutSpaceForTheJournalNothingIsChanged) {
  host.space[folder + "/a/journal.jsonl"] = 0;
  const AgentAnswer answer = ask(AgentOp::apply);
  ASSERT_EQ(answer.steps.size(), 1u);
  EXPECT_EQ(answer.steps[0].findings.at(0).cause, "stage.disk_full");
  EXPECT_EQ(host.files.at("/proc/sys/net/core/rmem_max"), "1\n");
}

TEST_F(ServeTest, ABusyNodeIsNotChangedUnlessAllowed) {
  host.files["/dev/nvidia0"] = "";
  host.files["/proc/7/comm"] = "python3";
  host.links["/proc/7/fd/3"] = "/dev/nvidia0";
  const AgentAnswer answer = ask(AgentOp::apply);
  EXPECT_EQ(answer.steps.at(0).state, StepState::blocked);
  EXPECT_EQ(answer.steps[0].findings.at(0).cause, "stage.node_busy");
  EXPECT_EQ(answer.steps[0].findings[0].found, "GPU process 7 python3");
  EXPECT_EQ(host.files.at("/proc/sys/net/core/rmem_max"), "1\n");
  allow_busy = true;
  EXPECT_EQ(ask(AgentOp::apply).steps.at(0).state, StepState::applied);
}

TEST_F(ServeTest, ANodeOfAnotherRunIsNotChangedWhateverIsAllowed) {
  desired.spool_dir = folder + "/spool";
  allow_busy = true;
  const auto other = claim_node(desired.spool_dir, {"r2", "h2", "", 0, 0});
  ASSERT_TRUE(other && other->claim);
  const AgentAnswer answer = ask(AgentOp::apply);
  ASSERT_TRUE(answer.in_use);
  EXPECT_EQ(answer.in_use->occupant.run, "r2");
  EXPECT_THAT(answer.steps, IsEmpty());
  EXPECT_EQ(host.files.at("/proc/sys/net/core/rmem_max"), "1\n");
  EXPECT_FALSE(std::filesystem::exists(folder + "/a")) << "no journal either";
  EXPECT_EQ(ask(AgentOp::plan).steps.at(0).state, StepState::planned) << "a plan changes nothing";
}

TEST_F(ServeTest, AfterAnApplyTheNodeStaysTheRunsForItsLease) {
  desired.spool_dir = folder + "/spool";
  ASSERT_EQ(ask(AgentOp::apply).steps.at(0).state, StepState::applied);
  EXPECT_TRUE(claim_node(desired.spool_dir, {"r2", "h2", "", 0, 0})->other);
}

TEST_F(ServeTest, ABusyNodeWithNothingToDoIsUnchanged) {
  ASSERT_EQ(ask(AgentOp::apply).steps.at(0).state, StepState::applied);
  host.files["/dev/nvidia0"] = "";
  host.files["/proc/7/comm"] = "python3";
  host.links["/proc/7/fd/3"] = "/dev/nvidia0";
  EXPECT_EQ(ask(AgentOp::apply).steps.at(0).state, StepState::unchanged);
}

TEST_F(ServeTest, OnlyStorageOverARailMakesANodeBusy) {
  desired.rails = {{.name = "rail0", .netdev = "e1", .address = *parse_ipv4("172.16.0.3"), .prefix = 16}};
  Facts facts;
  facts.network_mounts = {"/home 10.0.0.9", "/my data 172.16.9.9", "/x filer"};
  EXPECT_THAT(busy_reasons(desired, facts), ElementsAre("/my data mounted from 172.16.9.9 over rail0"));
}

TEST_F(ServeTest, OnceToldToEndNoFurtherStepIsBegun) {
  const auto answer = serve({.nonce = "0",
                             .op = AgentOp::apply,
                             .desired = to_json_value(desired),
                             .journal = folder + "/a/journal.jsonl",
                             .only_steps = {"sysctl", "network"}},
                            host, [&] { return host.files.at("/proc/sys/net/core/rmem_max") == "9\n"; });
  ASSERT_EQ(answer.steps.size(), 1u);
  EXPECT_EQ(answer.steps[0].state, StepState::applied) << "the step that was begun is finished";
  EXPECT_EQ(answer.error, "told to end before step network");
  for (const auto& line : journal()) EXPECT_EQ(line["step"], "sysctl");
}

TEST_F(ServeTest, WithoutTheInterfaceOfADeclaredRailNothingIsApplied) {
  desired.rails = {{.name = "rail0", .netdev = "e1", .address = *parse_ipv4("172.16.0.3"), .prefix = 16},
                   {.name = "rail1", .netdev = "e9", .address = *parse_ipv4("172.17.0.3"), .prefix = 16}};
  host.files["/sys/class/net/e1/flags"] = "0x1002\n";
  const auto answer = serve({.nonce = "0",
                             .op = AgentOp::apply,
                             .desired = to_json_value(desired),
                             .journal = folder + "/a/journal.jsonl",
                             .only_steps = {"sysctl", "network"}},
                            host);
  ASSERT_EQ(answer.steps.size(), 2u);
  EXPECT_EQ(answer.steps[0].state, StepState::planned);
  EXPECT_EQ(host.files.at("/proc/sys/net/core/rmem_max"), "1\n");
  EXPECT_EQ(answer.steps[1].state, StepState::failed);
  EXPECT_THAT(answer.steps[1].error, HasSubstr("link.absent"));
  EXPECT_THAT(answer.steps[1].error, HasSubstr("e9"));
  EXPECT_FALSE(answer.steps[1].commands.empty()) << "what e1 would get is said";
  EXPECT_THAT(host.accesses_of("write "), IsEmpty());
  EXPECT_THAT(host.accesses_of("run ip "), IsEmpty());
}

TEST_F(ServeTest, AModuleThatMayBringTheInterfaceOfARailIsLoadedFirst) {
  desired.rails = {{.name = "rail0", .netdev = "e9", .address = *parse_ipv4("172.16.0.3"), .prefix = 16}};
  desired.modules = {"mlx5_core"};
  host.on_run = [&](const auto&) -> std::optional<CommandResult> {
    host.files["/proc/modules"] = "mlx5_core 1 0 - Live 0x0\n";
    host.files["/sys/class/net/e9/flags"] = "0x1002\n";
    return CommandResult{0, "", ""};
  };
  const auto answer = serve({.nonce = "0",
                             .op = AgentOp::apply,
                             .desired = to_json_value(desired),
                             .journal = folder + "/a/journal.jsonl",
                             .only_steps = {"modules", "sysctl", "network"}},
                            host);
  ASSERT_EQ(answer.steps.size(), 3u);
  EXPECT_EQ(answer.steps[0].state, StepState::applied) << answer.steps[0].error;
  EXPECT_EQ(answer.steps[1].state, StepState::applied) << answer.steps[1].error;
}

TEST_F(ServeTest, AnUnknownStepIsAnError) {
  const AgentAnswer answer =
      serve({.nonce = "0", .op = AgentOp::plan, .desired = to_json_value(desired), .only_steps = {"sysctll"}}, host);
  EXPECT_THAT(answer.error, HasSubstr("sysctll"));
  EXPECT_THAT(answer.steps, IsEmpty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
