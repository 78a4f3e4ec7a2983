#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;

constexpr const char* live = "/sys/module/ib_core/parameters/netns_mode";
constexpr const char* drop_in = "/etc/modprobe.d/fabricgate-rdma.conf";

Desired desired() {
  Desired out;
  out.node = "n1";
  out.rdma_namespace = "exclusive";
  return out;
}

/// One network namespace, devices shared; `rdma` does what it is told.
std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  FakeHost* machine = host.get();
  host->files = {{live, "Y\n"}, {"/proc/1/comm", "systemd\n"}, {"/proc/20/comm", "sshd\n"}};
  host->links = {{"/proc/1/ns/net", "net:[1]"}, {"/proc/20/ns/net", "net:[1]"}};
  host->changing = [](const auto& a) { return a[0] == "rdma"; };
  host->on_run = [machine](const auto& a) -> std::optional<CommandResult> {
    if (join(a) == "rdma system set netns exclusive") return machine->files[live] = "N\n", CommandResult{0, "", ""};
    return std::nullopt;
  };
  return host;
}

TEST(RdmaNamespaceStep, TheModeIsSetNowAndForEveryBoot) {
  auto host = machine();
  EXPECT_THAT(commands(plan_of(rdma_namespace_step, desired(), *host)),
              ElementsAre(HasSubstr("options ib_core netns_mode=0\n"), "rdma system set netns exclusive"));
  ASSERT_TRUE(apply_of(rdma_namespace_step, desired(), *host));
  EXPECT_EQ(host->files[live], "N\n");
  const StepPlan again = plan_of(rdma_namespace_step, desired(), *host);
  EXPECT_THAT(commands(again), IsEmpty());
  EXPECT_THAT(again.findings, IsEmpty());
}

TEST(RdmaNamespaceStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(rdma_namespace_step, desired(), machine);
}

TEST(RdmaNamespaceStep, WithoutADemandNothingIsLookedAt) {
  auto host = machine();
  EXPECT_THAT(commands(plan_of(rdma_namespace_step, {}, *host)), IsEmpty());
  EXPECT_THAT(host->accesses, IsEmpty());
}

TEST(RdmaNamespaceStep, OtherNamespacesAreNamedAndTheModeWaitsForAReboot) {
  auto host = machine();
  host->files["/run/netns/guest"] = "";
  host->files["/proc/31/comm"] = "nginx\n";
  host->links["/proc/31/ns/net"] = "net:[7]";
  ASSERT_TRUE(apply_of(rdma_namespace_step, desired(), *host));
  EXPECT_THAT(host->accesses_of("run "), IsEmpty());
  EXPECT_THAT(host->files[drop_in], HasSubstr("netns_mode=0"));
  const StepPlan plan = plan_of(rdma_namespace_step, desired(), *host);
  EXPECT_THAT(commands(plan), IsEmpty());
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "rdma.netns_mode");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::blocked);
  EXPECT_EQ(plan.findings[0].found, "shared, held by network namespace guest, network namespace of process 31 nginx");
}

TEST(RdmaNamespaceStep, AKernelThatSaysBusyIsQuoted) {
  auto host = machine();
  host->on_run = [](const auto&) { return CommandResult{1, "", "error: Device or resource busy\n"}; };
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(rdma_namespace_step, desired(), *host, &findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause, "rdma.netns_mode");
  EXPECT_THAT(findings[0].found, HasSubstr("Device or resource busy"));
}

TEST(RdmaNamespaceStep, AToolThatIsNotThereIsAnError) {
  auto host = machine();
  host->on_run = {};
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(rdma_namespace_step, desired(), *host, &findings));
  EXPECT_THAT(findings, IsEmpty());
}

TEST(RdmaNamespaceStep, AModuleThatIsNotLoadedYetTakesTheModeFromTheFile) {
  auto host = machine();
  host->files.erase(live);
  ASSERT_TRUE(apply_of(rdma_namespace_step, desired(), *host));
  EXPECT_THAT(host->accesses_of("run "), IsEmpty());
  EXPECT_THAT(commands(plan_of(rdma_namespace_step, desired(), *host)), IsEmpty());
}

TEST(RdmaNamespaceStep, WhereTheOperatorOwnsTheDriverItIsLookedAtOnly) {
  auto host = machine();
  Desired wanted = desired();
  wanted.driver.owner = Owner::operator_;
  const StepPlan plan = plan_of(rdma_namespace_step, wanted, *host);
  EXPECT_THAT(commands(plan), IsEmpty());
  EXPECT_EQ(plan.findings.at(0).cause, "rdma.netns_mode");
  EXPECT_EQ(plan.findings.at(0).verdict, Verdict::fail) << "a reboot would change nothing";
  ASSERT_TRUE(apply_of(rdma_namespace_step, wanted, *host));
  EXPECT_EQ(host->files.count(drop_in), 0u);
}

TEST(RdmaNamespaceStep, AFullDiskIsNamed) {
  auto host = machine();
  host->space[drop_in] = 4096;
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(rdma_namespace_step, desired(), *host, &findings));
  EXPECT_EQ(findings.at(0).cause, "stage.disk_full");
}

TEST(RdmaNamespaceStep, UnstageRemovesTheOptionAndLeavesTheMode) {
  auto host = machine();
  ASSERT_TRUE(apply_of(rdma_namespace_step, desired(), *host));
  const Step& undo = *rdma_namespace_step.undo;
  EXPECT_THAT(commands(plan_of(undo, desired(), *host)), ElementsAre(std::string("rm ") + drop_in, HasSubstr("# ")));
  ASSERT_TRUE(apply_of(undo, desired(), *host));
  EXPECT_EQ(host->files.count(drop_in), 0u);
  EXPECT_EQ(host->files[live], "N\n");
  EXPECT_THAT(commands(plan_of(undo, desired(), *host)), IsEmpty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
