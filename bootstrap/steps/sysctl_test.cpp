#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::plan_of;

Desired desired() {
  Desired out;
  out.node = "n1";
  out.rails = {{.name = "rail0", .netdev = "ens1.5"}};
  out.sysctl = {{"net.ipv4.tcp_rmem", "4096 131072 16777216"}, {"net.ipv4.conf.ens1/5.arp_ignore", "1"}};
  return out;
}

std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  host->files = {{"/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"},
                 {"/proc/sys/net/ipv4/conf/ens1.5/arp_ignore", "0\n"}};
  return host;
}

TEST(SysctlStep, ThePlanIsWhatAPersonWouldType) {
  auto host = machine();
  EXPECT_THAT(
      commands(plan_of(sysctl_step, desired(), *host)),
      ElementsAre("install -D -m 0644 /dev/stdin /etc/sysctl.d/90-fabricgate.conf <<'EOF'\n"
                  "# written by fabricgate; changes are overwritten by the next stage\n"
                  "net.ipv4.conf.ens1/5.arp_ignore = 1\nnet.ipv4.tcp_rmem = 4096 131072 16777216\nEOF",
                  "sysctl -w net.ipv4.conf.ens1/5.arp_ignore=1", "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 16777216'"));
  EXPECT_THAT(host->accesses_of("write "), IsEmpty());
  EXPECT_THAT(host->accesses_of("set "), IsEmpty());
}

TEST(SysctlStep, ApplyingTwiceChangesNothingTheSecondTime) {
  auto host = machine();
  ASSERT_TRUE(apply_of(sysctl_step, desired(), *host));
  EXPECT_EQ(host->files.at("/proc/sys/net/ipv4/tcp_rmem"), "4096 131072 16777216\n");
  const StepPlan again = plan_of(sysctl_step, desired(), *host);
  EXPECT_THAT(commands(again), IsEmpty());
  EXPECT_THAT(again.findings, IsEmpty());
}

TEST(SysctlStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(sysctl_step, desired(), machine);
}

TEST(SysctlStep, AnUnknownKeyIsAFindingAndTheRestIsDone) {
  auto host = machine();
  Desired wanted = desired();
  wanted.sysctl["net.core.rmem_mxa"] = "1";
  const StepPlan plan = plan_of(sysctl_step, wanted, *host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "host.sysctl_missing");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::fail);
  EXPECT_EQ(plan.findings[0].expected, "net.core.rmem_mxa = 1");
  EXPECT_EQ(plan.actions.size(), 3u);
}

TEST(SysctlStep, AMissingRailIsLeftToTheNetworkStep) {
  auto host = machine();
  host->files.erase("/proc/sys/net/ipv4/conf/ens1.5/arp_ignore");
  EXPECT_THAT(plan_of(sysctl_step, desired(), *host).findings, IsEmpty());
}

TEST(SysctlStep, AFullDiskIsNamedBeforeAnythingIsWritten) {
  auto host = machine();
  host->space["/etc/sysctl.d/90-fabricgate.conf"] = 4096;
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(sysctl_step, desired(), *host, &findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause, "stage.disk_full");
  EXPECT_EQ(findings[0].subject.file, "/etc/sysctl.d/90-fabricgate.conf");
  EXPECT_THAT(host->accesses_of("write "), IsEmpty());
}

TEST(SysctlStep, AKeyThatLeavesProcSysIsRefused) {
  for (const char* key : {"net.//.x", "..", "a b", "/etc"}) {
    FakeHost host;
    Desired wanted;
    wanted.sysctl = {{key, "1"}};
    EXPECT_FALSE(apply_of(sysctl_step, wanted, host)) << key;
  }
}

TEST(SysctlStep, SettingsOfTheInterfaceWeTalkOverAreLeftAlone) {
  auto host = machine();
  host->files["/proc/net/route"] = "ens1.5 00000000 0100000A 0003 0 0 0 00000000 0 0 0\n";
  const auto plan = commands(plan_of(sysctl_step, desired(), *host));
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_THAT(plan, ::testing::Each(::testing::Not(::testing::HasSubstr("ens1"))));
}

TEST(SysctlStep, WhatIsOnlyCheckedIsNotChanged) {
  auto host = machine();
  Desired wanted = desired();
  wanted.manage.sysctl = false;
  EXPECT_THAT(commands(plan_of(sysctl_step, wanted, *host)), IsEmpty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
