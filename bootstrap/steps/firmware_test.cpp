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
  out.sriov_owner = Owner::host;
  out.rails = {
      {.name = "rail0", .netdev = "ib0", .pci = "0000:17:00.0", .link_layer = LinkLayer::infiniband, .vfs = 8}};
  return out;
}

/// An adapter that keeps what it is told for the next boot. The table is mstconfig's, as reported in
/// k8snetworkplumbingwg/sriov-network-device-plugin#601; the messages are those of mstflint's mlxconfig.
class Adapter : public FakeHost {
 public:
  Adapter() {
    files["/sys/bus/pci/devices/0000:17:00.0/vendor"] = "0x15b3\n";
    files["/sys/class/net/ib0/type"] = "32\n";
    changing = [](const auto& a) { return a[0] == tool() && a[1] == "-y"; };
    on_run = [this](const auto& a) { return run_tool(a); };
  }

  static std::string tool() { return "mstconfig"; }
  std::map<std::string, std::string> next{{"NUM_OF_VFS", "0"}, {"SRIOV_EN", "False(0)"}, {"LINK_TYPE_P1", "IB(1)"}};
  std::string complaint;
  int sets = 0;

 private:
  std::optional<CommandResult> run_tool(const std::vector<std::string>& a) {
    if (a[0] != tool()) return std::nullopt;
    if (!complaint.empty()) return CommandResult{3, "", complaint + "\n"};
    if (a[1] == "-y") {
      ++sets;
      for (std::size_t i = 5; i < a.size(); ++i) {
        const std::string name = a[i].substr(0, a[i].find('=')), value = a[i].substr(a[i].find('=') + 1);
        next[name] = name == "SRIOV_EN" ? "True(1)" : name == "LINK_TYPE_P1" ? "IB(1)" : value;
      }
      return CommandResult{0, "Applying... Done!\n-I- Please reboot machine to load new configurations.\n", ""};
    }
    std::string out =
        "\nDevice #1:\n----------\n\nDevice type:        ConnectX7\nDevice:             0000:17:00.0\n\n"
        "Configurations:            Default         Current         Next Boot\n";
    for (const auto& [name, now] :
         std::map<std::string, std::string>{{"NUM_OF_VFS", "0"}, {"SRIOV_EN", "False(0)"}, {"LINK_TYPE_P1", "IB(1)"}})
      out += "         " + name + "        " + now + "     " + now + "    " + next[name] + "\n";
    return CommandResult{0, out, ""};
  }
};

TEST(FirmwareStep, ThePlanIsWhatAPersonWouldType) {
  Adapter host;
  const StepPlan plan = plan_of(firmware_step, desired(), host);
  EXPECT_THAT(commands(plan), ElementsAre("mstconfig -y -d 0000:17:00.0 set SRIOV_EN=1 NUM_OF_VFS=8"));
  EXPECT_THAT(plan.findings, IsEmpty());
  EXPECT_EQ(host.sets, 0);
}

TEST(FirmwareStep, WhatWasSetIsPendingUntilAResetAndIsNeverSetTwice) {
  Adapter host;
  ASSERT_TRUE(apply_of(firmware_step, desired(), host));
  const StepPlan again = plan_of(firmware_step, desired(), host);
  EXPECT_THAT(commands(again), IsEmpty());
  ASSERT_EQ(again.findings.size(), 1u);
  EXPECT_EQ(again.findings[0].cause, "firmware.setting_pending");
  EXPECT_EQ(again.findings[0].verdict, Verdict::blocked);
  EXPECT_EQ(again.findings[0].subject.pci, "0000:17:00.0");
  EXPECT_EQ(again.findings[0].found, "SRIOV_EN False(0) now, True(1) after a reset, NUM_OF_VFS 0 now, 8 after a reset");
  ASSERT_TRUE(apply_of(firmware_step, desired(), host));
  EXPECT_EQ(host.sets, 1);
}

TEST(FirmwareStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(firmware_step, desired(), [] { return std::make_unique<Adapter>(); });
}

TEST(FirmwareStep, APortOfTheOtherLinkLayerIsChangedWhereItCanBe) {
  Adapter host;
  Desired wanted = desired();
  wanted.rails[0].link_layer = LinkLayer::ethernet;
  EXPECT_THAT(commands(plan_of(firmware_step, wanted, host)), ElementsAre(HasSubstr("NUM_OF_VFS=8 LINK_TYPE_P1=2")));
  wanted.rails[0].pci = "0000:17:00.1";
  host.files["/sys/bus/pci/devices/0000:17:00.1/vendor"] = "0x15b3\n";
  EXPECT_THAT(commands(plan_of(firmware_step, wanted, host)),
              ElementsAre("mstconfig -y -d 0000:17:00.1 set SRIOV_EN=1 NUM_OF_VFS=8"))
      << "this one has no LINK_TYPE_P2";
}

TEST(FirmwareStep, AnAdapterThatShowsEnoughIsNotAsked) {
  Adapter host;
  host.files["/sys/bus/pci/devices/0000:17:00.0/sriov_totalvfs"] = "8\n";
  EXPECT_THAT(commands(plan_of(firmware_step, desired(), host)), IsEmpty());
  EXPECT_THAT(host.accesses_of("run "), IsEmpty());
}

TEST(FirmwareStep, AnotherVendorOrOwnerIsNotAsked) {
  Adapter other, operated;
  other.files["/sys/bus/pci/devices/0000:17:00.0/vendor"] = "0x8086\n";
  EXPECT_THAT(plan_of(firmware_step, desired(), other).findings, IsEmpty());
  Desired wanted = desired();
  wanted.sriov_owner = Owner::operator_;
  EXPECT_THAT(commands(plan_of(firmware_step, wanted, operated)), IsEmpty());
  EXPECT_THAT(operated.accesses_of("run "), IsEmpty());
}

TEST(FirmwareStep, AToolThatFailsOrIsNotThereIsSaidAndNothingIsSet) {
  Adapter host, bare;
  host.complaint = "-E- Failed to open the device";
  const StepPlan plan = plan_of(firmware_step, desired(), host);
  EXPECT_THAT(commands(plan), IsEmpty());
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "firmware.unreadable");
  EXPECT_EQ(plan.findings[0].found, "Failed to open the device");
  bare.on_run = {};
  EXPECT_EQ(plan_of(firmware_step, desired(), bare).findings.at(0).found,
            "neither mstconfig nor mlxconfig is installed");
}

TEST(FirmwareStep, ASettingThatIsRefusedFailsWithTheToolsWords) {
  Adapter host;
  auto tool = host.on_run;
  host.on_run = [tool](const auto& a) -> std::optional<CommandResult> {
    if (a[1] == "-y") return CommandResult{3, "", "-E- Failed to set configuration: Bad parameter\n"};
    return tool(a);
  };
  const Status status = apply_of(firmware_step, desired(), host);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("Bad parameter"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
