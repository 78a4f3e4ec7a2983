// The undo of every step, on machines as the steps leave them.
#include "bootstrap/steps/removal.hpp"

#include "bootstrap/steps/sriov_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;
using testing::SriovMachine;
using testing::with_vfs;

const std::string ours = std::string(file_header) + "x\n";

TEST(Undo, DropInsThatAreOursGoAndOthersStay) {
  FakeHost host;
  host.files = {{"/etc/sysctl.d/90-fabricgate.conf", ours},
                {"/etc/modules-load.d/fabricgate.conf", "a person's own\n"}};
  EXPECT_THAT(commands(plan_of(*sysctl_step.undo, {}, host)),
              ElementsAre("rm /etc/sysctl.d/90-fabricgate.conf", "# values that are set stay until the next reboot"));
  EXPECT_THAT(commands(plan_of(*modules_step.undo, {}, host)), IsEmpty());
  ASSERT_TRUE(apply_of(*sysctl_step.undo, {}, host));
  EXPECT_FALSE(host.exists("/etc/sysctl.d/90-fabricgate.conf"));
  EXPECT_THAT(commands(plan_of(*sysctl_step.undo, {}, host)), IsEmpty());
}

TEST(Undo, TheLimitOfTheSshServiceGoesAndSystemdHearsOfIt) {
  FakeHost host;
  const std::string drop_in = "/etc/systemd/system/ssh.service.d/90-fabricgate-memlock.conf";
  host.files = {{"/run/systemd/system/x", ""}, {"/lib/systemd/system/ssh.service", ""}, {drop_in, ours}};
  host.commands["systemctl daemon-reload"] = {0, "", ""};
  EXPECT_THAT(commands(plan_of(*memlock_step.undo, {}, host)),
              ElementsAre("rm " + drop_in, "systemctl daemon-reload", HasSubstr("# ")));
  ASSERT_TRUE(apply_of(*memlock_step.undo, {}, host));
  EXPECT_THAT(commands(plan_of(*memlock_step.undo, {}, host)), IsEmpty());
}

TEST(Undo, TheFileOfWhicheverManagerGoes) {
  FakeHost host;
  const std::string network = "/etc/systemd/network/10-fabricgate-e1.network",
                    manager = "/etc/NetworkManager/system-connections/fabricgate-e1.nmconnection";
  host.files = {{network, ours}, {manager, ours}};
  EXPECT_THAT(
      commands(plan_of(*network_step.undo, with_vfs(0), host)),
      ElementsAre("rm " + manager, "rm " + network, "nmcli connection reload", "networkctl reload", HasSubstr("# ")));
}

TEST(Undo, VirtualFunctionsGoUnlessTheyAreInUseOrSomebodyElses) {
  SriovMachine host;
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(2), host));
  EXPECT_THAT(commands(plan_of(*sriov_step.undo, with_vfs(2), host)),
              ElementsAre("echo 0 > /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs"));
  host.interface_addresses = {{"e1v1", "10.78.0.1", 24}};
  const StepPlan used = plan_of(*sriov_step.undo, with_vfs(2), host);
  EXPECT_THAT(commands(used), IsEmpty());
  EXPECT_EQ(used.findings.at(0).cause, "vf.count_busy");
  host.interface_addresses.clear();
  Desired operated = with_vfs(2);
  operated.sriov_owner = Owner::operator_;
  EXPECT_THAT(commands(plan_of(*sriov_step.undo, operated, host)), IsEmpty());
  ASSERT_TRUE(apply_of(*sriov_step.undo, with_vfs(2), host));
  EXPECT_EQ(host.count(), 0);
  EXPECT_THAT(commands(plan_of(*sriov_step.undo, with_vfs(2), host)), IsEmpty());
}

TEST(Undo, WhatCannotBeTakenBackHasNone) {
  EXPECT_EQ(packages_step.undo, nullptr);
  EXPECT_EQ(firmware_step.undo, nullptr);
}

}  // namespace
}  // namespace fabricgate::bootstrap
