#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;

std::string limits(const std::string& value) {
  return "Max locked memory         " + value + "    " + value + "   bytes\n";
}

Desired desired(std::uint64_t bytes = UINT64_MAX) {
  Desired out;
  out.node = "n1";
  out.memlock_bytes = bytes;
  return out;
}

/// agent (self) ← sh 30 ← sshd-session 20 ← sshd 10, all with 64 KiB.
std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  host->files = {{"/proc/self/stat", "40 (fabricgate-agen) S 30 1"},
                 {"/proc/self/limits", limits("65536")},
                 {"/proc/30/stat", "30 (sh) S 20 1"},
                 {"/proc/30/comm", "sh\n"},
                 {"/proc/30/limits", limits("65536")},
                 {"/proc/20/stat", "20 (sshd-session) S 10 1"},
                 {"/proc/20/comm", "sshd-session\n"},
                 {"/proc/20/limits", limits("65536")},
                 {"/proc/10/stat", "10 (sshd) S 0 1"},
                 {"/proc/10/comm", "sshd\n"},
                 {"/proc/10/limits", limits("65536")}};
  FakeHost* machine = host.get();
  host->on_memlock = [machine](int pid, std::uint64_t bytes) {
    machine->files["/proc/" + std::to_string(pid) + "/limits"] =
        limits(bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes));
  };
  return host;
}

std::unique_ptr<FakeHost> systemd_machine() {
  auto host = machine();
  host->files["/run/systemd/system/x"] = "";
  host->files["/lib/systemd/system/ssh.service"] = "";
  FakeHost* machine = host.get();
  auto reloaded = std::make_shared<std::string>();
  const std::string drop_in = "/etc/systemd/system/ssh.service.d/90-fabricgate-memlock.conf";
  host->changing = [](const auto& arguments) { return arguments[1] == "daemon-reload"; };
  host->on_run = [machine, reloaded, drop_in](const auto& arguments) -> std::optional<CommandResult> {
    const std::string now = machine->files.count(drop_in) ? machine->files[drop_in] : "";
    if (arguments[1] == "daemon-reload") *reloaded = now;
    return CommandResult{0, arguments[1] == "show" ? (*reloaded == now ? "no\n" : "yes\n") : "", ""};
  };
  return host;
}

TEST(MemlockStep, WithoutSystemdTheRunningSshdIsRaised) {
  auto host = machine();
  EXPECT_THAT(
      commands(plan_of(memlock_step, desired(), *host)),
      ElementsAre(HasSubstr("limits.d/90-fabricgate.conf <<'EOF'\n# written by fabricgate; changes are overwritten by "
                            "the next stage\n"
                            "* - memlock unlimited\nroot - memlock unlimited\nEOF"),
                  "prlimit --pid 20 --memlock=unlimited:unlimited", "prlimit --pid 10 --memlock=unlimited:unlimited"));
}

TEST(MemlockStep, WithSystemdTheUnitGetsADropIn) {
  auto host = systemd_machine();
  const auto plan = commands(plan_of(memlock_step, desired(131073), *host));
  ASSERT_EQ(plan.size(), 5u);
  EXPECT_THAT(plan[0], HasSubstr("* - memlock 129\n")) << "KiB, rounded up";
  EXPECT_THAT(plan[1], HasSubstr("/etc/systemd/system/ssh.service.d/90-fabricgate-memlock.conf"));
  EXPECT_THAT(plan[1], HasSubstr("[Service]\nLimitMEMLOCK=131073\n"));
  EXPECT_EQ(plan[2], "systemctl daemon-reload");
  EXPECT_EQ(plan[4], "prlimit --pid 10 --memlock=131073:131073");
}

TEST(MemlockStep, ApplyingTwiceChangesNothingTheSecondTime) {
  auto host = systemd_machine();
  ASSERT_TRUE(apply_of(memlock_step, desired(), *host));
  EXPECT_THAT(commands(plan_of(memlock_step, desired(), *host)), IsEmpty());
}

TEST(MemlockStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(memlock_step, desired(), machine);
  testing::expect_converges_from_any_interruption(memlock_step, desired(), systemd_machine);
}

TEST(MemlockStep, AHigherLimitThanDemandedIsLeftAlone) {
  auto host = machine();
  for (const char* process : {"self", "30", "20", "10"})
    host->files["/proc/" + std::string(process) + "/limits"] = limits("unlimited");
  const StepPlan plan = plan_of(memlock_step, desired(1 << 20), *host);
  EXPECT_EQ(plan.actions.size(), 1u) << "only the file";
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(MemlockStep, ALimitLoweredBetweenSshdAndTheProcessIsAFinding) {
  auto host = machine();
  ASSERT_TRUE(apply_of(memlock_step, desired(), *host));
  host->files["/proc/self/limits"] = limits("65536");
  const StepPlan plan = plan_of(memlock_step, desired(), *host);
  EXPECT_THAT(plan.actions, IsEmpty());
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "rdma.memlock_limit");
  EXPECT_THAT(plan.findings[0].found, HasSubstr("65536"));
}

TEST(MemlockStep, WhereNothingIsDemandedNothingIsLookedAt) {
  auto host = machine();
  Desired wanted = desired();
  wanted.memlock_bytes.reset();
  EXPECT_THAT(plan_of(memlock_step, wanted, *host).actions, IsEmpty());
  EXPECT_THAT(host->accesses, IsEmpty());
}

TEST(MemlockStep, ADeniedPrlimitIsAnError) {
  auto host = machine();
  host->errors.emplace("memlock 20 18446744073709551615",
                       Error{ErrorKind::denied, "prlimit of process 20 (memlock): denied (1)", 1});
  auto status = apply_of(memlock_step, desired(), *host);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("process 20"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
