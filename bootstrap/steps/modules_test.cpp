#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;

Desired desired() {
  Desired out;
  out.node = "n1";
  out.modules = {"ib-umad", "tcp_bbr", "rdma_ucm"};
  return out;
}

/// tcp_bbr is built in, rdma_ucm is loaded, ib_umad can be loaded.
std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  host->files = {{"/proc/modules", "rdma_ucm 28672 0 - Live 0x0\n"},
                 {"/proc/sys/kernel/osrelease", "6.1.0\n"},
                 {"/lib/modules/6.1.0/modules.builtin", "kernel/net/ipv4/tcp_bbr.ko\n"}};
  FakeHost* machine = host.get();
  host->changing = [](const auto& arguments) { return arguments[0] == "modprobe"; };
  host->on_run = [machine](const auto& arguments) -> std::optional<CommandResult> {
    if (arguments != std::vector<std::string>{"modprobe", "ib-umad"}) return std::nullopt;
    machine->files["/proc/modules"] += "ib_umad 1 0 - Live 0x0\n";
    return CommandResult{0, "", ""};
  };
  return host;
}

TEST(ModulesStep, OnlyWhatIsNeitherLoadedNorBuiltInIsLoaded) {
  auto host = machine();
  EXPECT_THAT(commands(plan_of(modules_step, desired(), *host)),
              ElementsAre(HasSubstr("/etc/modules-load.d/fabricgate.conf <<'EOF'\n# written by fabricgate; changes are "
                                    "overwritten by the next stage\n"
                                    "ib-umad\ntcp_bbr\nrdma_ucm\nEOF"),
                          "modprobe ib-umad"));
}

TEST(ModulesStep, AModuleThatIsCheckedOnlyAndNotLoadedIsNamedAndNothingIsDone) {
  auto host = machine();
  Desired wanted = desired();
  wanted.manage.modules = false;
  const StepPlan plan = plan_of(modules_step, wanted, *host);
  EXPECT_THAT(plan.actions, IsEmpty());
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "host.module_absent");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::fail);
  EXPECT_EQ(plan.findings[0].subject.module, "ib-umad");
  host->files["/proc/modules"] += "ib_umad 1 0 - Live 0x0\n";
  EXPECT_THAT(plan_of(modules_step, wanted, *host).findings, IsEmpty());
}

TEST(ModulesStep, ApplyingTwiceChangesNothingTheSecondTime) {
  auto host = machine();
  ASSERT_TRUE(apply_of(modules_step, desired(), *host));
  EXPECT_THAT(commands(plan_of(modules_step, desired(), *host)), IsEmpty());
}

TEST(ModulesStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(modules_step, desired(), machine);
}

TEST(ModulesStep, AModuleThatDoesNotLoadIsNamedAndTheOthersAreLoaded) {
  auto host = machine();
  Desired wanted = desired();
  wanted.modules.insert(wanted.modules.begin(), "nosuch");
  host->commands["modprobe nosuch"] = {1, "",
                                       "modprobe: FATAL: Module nosuch not found in directory /lib/modules/6.1.0\n"};
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(modules_step, wanted, *host, &findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause, "driver.module_load_failed");
  EXPECT_EQ(findings[0].subject.module, "nosuch");
  EXPECT_THAT(findings[0].found, HasSubstr("not found in directory"));
  EXPECT_THAT(host->files.at("/proc/modules"), HasSubstr("ib_umad"));
}

TEST(ModulesStep, AModuleThatSecureBootRejectsIsBlocked) {
  auto host = machine();
  Desired wanted = desired();
  wanted.modules = {"mlx"};
  host->commands["modprobe mlx"] = {1, "", "modprobe: ERROR: could not insert 'mlx': Key was rejected by service\n"};
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(modules_step, wanted, *host, &findings));
  EXPECT_EQ(findings.at(0).cause, "driver.module_unsigned");
  EXPECT_EQ(findings[0].verdict, Verdict::blocked);
}

TEST(ModulesStep, ANameThatIsAnOptionIsRefused) {
  FakeHost host;
  Desired wanted;
  wanted.modules = {"-r"};
  EXPECT_FALSE(apply_of(modules_step, wanted, host));
}

}  // namespace
}  // namespace fabricgate::bootstrap
