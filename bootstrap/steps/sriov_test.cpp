#include "bootstrap/steps/sriov_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using ::testing::AllOf;
using testing::apply_of;
using testing::commands;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::plan_of;
using testing::SriovMachine;
using testing::with_vfs;

const std::string pf = "/sys/bus/pci/devices/0000:01:00.0";

TEST(SriovStep, ThePlanOfABareFunctionIsWhatAPersonWouldType) {
  SriovMachine host;
  const Desired wanted = with_vfs(2);
  const std::string mac = vf_identity(wanted.rails[0], 0).mac, other = vf_identity(wanted.rails[0], 1).mac;
  const StepPlan plan = plan_of(sriov_step, wanted, host);
  EXPECT_THAT(
      commands(plan),
      ElementsAre("echo 0 > " + pf + "/sriov_drivers_autoprobe", "echo 2 > " + pf + "/sriov_numvfs",
                  "ip link set dev e1 vf 0 mac " + mac, "ip link set dev e1 vf 1 mac " + other,
                  "echo 1 > " + pf + "/sriov_drivers_autoprobe", "echo 0000:01:10.0 > /sys/bus/pci/drivers_probe",
                  "echo 0000:01:10.2 > /sys/bus/pci/drivers_probe",
                  "ip link set dev $(ls /sys/bus/pci/devices/0000:01:10.0/net) mtu 9000",
                  "ip link set dev $(ls /sys/bus/pci/devices/0000:01:10.2/net) mtu 9000",
                  "# e1: 2 VFs, persistence not managed"));
  EXPECT_THAT(plan.findings, IsEmpty());
  EXPECT_THAT(host.accesses_of("set "), IsEmpty());
}

TEST(SriovStep, ApplyingTwiceChangesNothingTheSecondTime) {
  SriovMachine host;
  const Desired wanted = with_vfs(2);
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_EQ(host.count(), 2);
  EXPECT_EQ(host.mac(0), vf_identity(wanted.rails[0], 0).mac + "\n");
  EXPECT_EQ(host.mac(1), vf_identity(wanted.rails[0], 1).mac + "\n");
  EXPECT_EQ(host.files.at("/sys/class/net/e1v1/mtu"), "9000\n");
  EXPECT_EQ(host.bindings, 2) << "bound once, after the identity was set";
  const StepPlan again = plan_of(sriov_step, wanted, host);
  EXPECT_THAT(commands(again), IsEmpty());
  EXPECT_THAT(again.findings, IsEmpty());
  host.accesses.clear();
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_THAT(host.accesses_of("set "), IsEmpty());
}

TEST(SriovStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(sriov_step, with_vfs(3),
                                                  [] { return std::make_unique<SriovMachine>(); });
  testing::expect_converges_from_any_interruption(sriov_step, with_vfs(2), [] {
    auto host = std::make_unique<SriovMachine>();
    EXPECT_TRUE(apply_of(sriov_step, with_vfs(4), *host));
    return host;
  });
  testing::expect_converges_from_any_interruption(sriov_step, with_vfs(2, LinkLayer::infiniband),
                                                  [] { return std::make_unique<SriovMachine>(true, true); });
}

TEST(SriovStep, EverySettingOfTheClassIsSetAndReadBack) {
  SriovMachine host;
  Desired wanted = with_vfs(1);
  wanted.rails[0].vf = {
      .trust = true, .spoofchk = false, .vlan = 100, .max_rate_mbps = 500, .mtu = 1500, .link_policy = LinkPolicy::up};
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, host)),
              AllOf(Contains("ip link set dev e1 vf 0 trust on"), Contains("ip link set dev e1 vf 0 spoofchk off"),
                    Contains("ip link set dev e1 vf 0 vlan 100"), Contains("ip link set dev e1 vf 0 max_tx_rate 500"),
                    Contains("ip link set dev e1 vf 0 state enable")));
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_EQ(host.settings[0]["vlan"], "100");
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, host)), IsEmpty());
  host.settings[0]["vlan"] = "7";
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, host)),
              ElementsAre("ip link set dev e1 vf 0 vlan 100", HasSubstr("# e1")));
}

TEST(SriovStep, AnotherCountGoesByWayOfZero) {
  SriovMachine host;
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(4), host));
  host.accesses.clear();
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(2), host));
  EXPECT_EQ(host.count(), 2);
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(0), host));
  EXPECT_EQ(host.count(), 0);
  EXPECT_THAT(commands(plan_of(sriov_step, with_vfs(0), host)), IsEmpty());
}

TEST(SriovStep, AFunctionThatIsDownOrHasASmallerMtuIsBroughtUpBeforeItsVfsAreBound) {
  SriovMachine host;
  host.files["/sys/class/net/e1/flags"] = "0x1002\n";
  host.files["/sys/class/net/e1/mtu"] = "1500\n";
  EXPECT_THAT(commands(plan_of(sriov_step, with_vfs(1), host)),
              AllOf(Contains("ip link set dev e1 mtu 9000"), Contains("ip link set dev e1 up")));
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(1), host));
  EXPECT_EQ(host.files["/sys/class/net/e1/flags"], "0x1003\n");
}

TEST(SriovStep, AVfThatTookAnotherMacIsBoundOnceMore) {
  SriovMachine host;
  host.resetting = 1;
  const Desired wanted = with_vfs(1);
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_EQ(host.mac(0), vf_identity(wanted.rails[0], 0).mac + "\n");
  EXPECT_EQ(host.bindings, 2);
}

TEST(SriovStep, VfsThatAreThereUnderOtherMacsGetTheirOwn) {
  SriovMachine host;
  ASSERT_TRUE(host.write_in_place(pf + "/sriov_numvfs", "1"));
  const Desired wanted = with_vfs(1);
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, host)),
              ElementsAre("ip link set dev e1 vf 0 mac " + vf_identity(wanted.rails[0], 0).mac,
                          "echo 0000:01:10.0 > /sys/bus/pci/devices/0000:01:10.0/driver/unbind",
                          "echo 0000:01:10.0 > /sys/bus/pci/drivers_probe", "ip link set dev e1v0 mtu 9000",
                          HasSubstr("# e1")));
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_EQ(host.mac(0), vf_identity(wanted.rails[0], 0).mac + "\n");
}

TEST(SriovStep, InfiniBandVfsGetGuidsAndPolicyThroughFilesOrThroughIp) {
  const Desired wanted = with_vfs(1, LinkLayer::infiniband);
  const std::string guid = vf_identity(wanted.rails[0], 0).guid;
  SriovMachine files(true, true), plain(true);
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, files)),
              AllOf(Contains("echo " + guid + " > " + pf + "/sriov/0/node"),
                    Contains("echo " + guid + " > " + pf + "/sriov/0/port"),
                    Contains("echo Follow > " + pf + "/sriov/0/policy"), Not(Contains(HasSubstr("mtu")))));
  ASSERT_TRUE(apply_of(sriov_step, wanted, files));
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, files)), IsEmpty());
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, plain)),
              AllOf(Contains("ip link set dev e1 vf 0 node_guid " + guid),
                    Contains("ip link set dev e1 vf 0 port_guid " + guid)));
  ASSERT_TRUE(apply_of(sriov_step, wanted, plain));
  EXPECT_EQ(plain.settings[0]["node_guid"], guid);
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, plain)), IsEmpty());
}

TEST(SriovStep, TheModeOfTheSwitchIsSetWhileThereAreNoVfs) {
  SriovMachine host;
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(1), host));
  host.commands["devlink dev eswitch show pci/0000:01:00.0"] = {0, "pci/0000:01:00.0: mode legacy inline-mode none\n",
                                                                ""};
  Desired wanted = with_vfs(1);
  wanted.eswitch = "switchdev";
  const auto lines = commands(plan_of(sriov_step, wanted, host));
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[1], "echo 0 > " + pf + "/sriov_numvfs");
  EXPECT_EQ(lines[2], "devlink dev eswitch set pci/0000:01:00.0 mode switchdev");
  EXPECT_EQ(lines[3], "echo 1 > " + pf + "/sriov_numvfs");
}

TEST(SriovStep, VfsOfGuestsStayWithoutADriverAndNeedAnIommu) {
  SriovMachine host;
  Desired wanted = with_vfs(2);
  wanted.rails[0].vf.bind = false;
  EXPECT_EQ(plan_of(sriov_step, wanted, host).findings.at(0).cause, "vf.iommu_off");
  host.files["/sys/class/iommu/dmar0/x"] = "";
  ASSERT_TRUE(apply_of(sriov_step, wanted, host));
  EXPECT_EQ(host.count(), 2);
  EXPECT_EQ(host.bindings, 0);
  EXPECT_THAT(commands(plan_of(sriov_step, wanted, host)), IsEmpty());
}

TEST(SriovStep, AnotherOwnersFunctionIsNeverTouched) {
  for (const Owner owner : {Owner::operator_, Owner::none}) {
    SriovMachine host;
    Desired wanted = with_vfs(2);
    wanted.sriov_owner = owner;
    const StepPlan bare = plan_of(sriov_step, wanted, host);
    EXPECT_THAT(commands(bare), IsEmpty());
    EXPECT_THAT(bare.findings, IsEmpty()) << "not made yet is not wrong";
    ASSERT_TRUE(host.write_in_place(pf + "/sriov_numvfs", "3"));
    host.accesses.clear();
    const StepPlan other = plan_of(sriov_step, wanted, host);
    EXPECT_THAT(commands(other), IsEmpty());
    EXPECT_EQ(other.findings.at(0).cause, "vf.count_mismatch");
    ASSERT_TRUE(apply_of(sriov_step, wanted, host));
    EXPECT_THAT(host.accesses_of("set "), IsEmpty());
    EXPECT_EQ(plan_of(sriov_step, with_vfs(9), host).findings.at(0).cause, "vf.exceeds_total");
  }
}

}  // namespace
}  // namespace fabricgate::bootstrap
