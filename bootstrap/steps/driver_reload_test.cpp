#include "bootstrap/steps/driver_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::Contains;
using testing::DriverNode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;
using testing::transcript;
using testing::wants_driver;

/// MLNX_OFED 24.10 is installed, 5.8 is loaded.
class Stale : public DriverNode {
 public:
  Stale() {
    release = "24.10-1.1.4.0";
    files["/etc/init.d/openibd"] = "";
    module("mlx5_core", "5.8-3.0.7", "24.10-1.1.4");
    module("mlx5_ib", "24.10-1.1.4", "24.10-1.1.4");
  }
  void holder(const std::string& of, const std::string& module, const std::string& users) {
    files["/sys/module/" + of + "/holders/" + module] = "";
    files["/sys/module/" + module + "/refcnt"] = users + "\n";
  }
  void carries_ssh() {
    files["/proc/net/route"] =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        "ens1f0np0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
    links["/sys/class/net/ens1f0np0/device/driver"] = "../../../bus/pci/drivers/mlx5_core";
  }
};

Desired wanted(Reload reload = Reload::safe) {
  Desired out = wants_driver("mlnx-ofed");
  out.driver.reload = reload;
  return out;
}

Finding forbidden(DriverNode& host, const Desired& desired) {
  const StepPlan plan = plan_of(driver_step, desired, host);
  EXPECT_THAT(commands(plan), IsEmpty());
  EXPECT_TRUE(apply_of(driver_step, desired, host));
  EXPECT_THAT(host.accesses_of("run /etc/init.d/openibd"), IsEmpty());
  EXPECT_EQ(plan.findings.size(), 1u);
  return plan.findings.empty() ? Finding{} : plan.findings[0];
}

TEST(DriverReload, AnInstalledDriverThatIsNotTheLoadedOneNeedsARebootUnlessToldOtherwise) {
  Stale host;
  const Finding finding = forbidden(host, wanted(Reload::never));
  EXPECT_EQ(finding.cause, "driver.reboot_required");
  EXPECT_EQ(finding.verdict, Verdict::blocked);
  EXPECT_EQ(finding.found, "mlx5_core: 5.8-3.0.7 is loaded, 24.10-1.1.4 installed; reload is 'never'");
  host.files.erase("/etc/init.d/openibd");
  EXPECT_THAT(forbidden(host, wanted()).found, HasSubstr("no /etc/init.d/openibd"));
}

TEST(DriverReload, ItIsRestartedWhereNobodyUsesIt) {
  Stale host;
  EXPECT_THAT(commands(plan_of(driver_step, wanted(), host)), ElementsAre("/etc/init.d/openibd restart"));
  ASSERT_TRUE(apply_of(driver_step, wanted(), host));
  const StepPlan again = plan_of(driver_step, wanted(), host);
  EXPECT_THAT(again.findings, IsEmpty());
  EXPECT_THAT(commands(again), IsEmpty());
}

TEST(DriverReload, AFreshInstallationIsFollowedByTheRestartOrByARequestToReboot) {
  for (const Reload reload : {Reload::safe, Reload::never}) {
    DriverNode host;
    host.runs_inbox_with_openibd();
    ASSERT_TRUE(apply_of(driver_step, wanted(reload), host));
    EXPECT_EQ(host.accesses_of("run /etc/init.d/openibd restart").size(), reload == Reload::safe ? 1u : 0u);
    const auto findings = plan_of(driver_step, wanted(reload), host).findings;
    if (reload == Reload::safe) {
      EXPECT_THAT(findings, IsEmpty());
    } else {
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_THAT(findings[0].found, HasSubstr("mlx5_core: without a version is loaded, 24.10-1.1.4 installed"));
    }
  }
}

TEST(DriverReload, TheCodeOfAModuleCountsWhereTheKernelKeepsItsName) {
  Stale host;
  for (const char* module : {"mlx5_core", "mlx5_ib"})
    host.files[std::string("/sys/module/") + module + "/srcversion"] = "AAAA\n";
  host.on_run = [answer = host.on_run](const auto& a) -> std::optional<CommandResult> {
    if (a[0] == "modinfo" && a[1] == "mlx5_ib")
      return CommandResult{0, "version:        24.10-1.1.4\nsrcversion:     BBBB\n", ""};
    if (a[0] == "modinfo") return CommandResult{0, "version:        5.8-3.0.7\nsrcversion:     AAAA\n", ""};
    return answer(a);
  };
  EXPECT_THAT(forbidden(host, wanted(Reload::never)).found, HasSubstr("mlx5_ib: code AAAA is loaded, BBBB installed"));
}

TEST(DriverReload, AModuleThatIsNotLoadedAtAllIsLoaded) {
  DriverNode host;
  host.release = "24.10-1.1.4.0";
  host.files["/etc/init.d/openibd"] = "";
  host.files["/sys/bus/pci/devices/0000:17:00.0/vendor"] = "0x15b3\n";
  EXPECT_THAT(commands(plan_of(driver_step, wanted(), host)), ElementsAre("/etc/init.d/openibd restart"));
  host.files["/sys/bus/pci/devices/0000:17:00.0/vendor"] = "0x8086\n";
  EXPECT_THAT(commands(plan_of(driver_step, wanted(), host)), IsEmpty());
}

TEST(DriverReload, StorageOverTheStackIsFoundBeforeAnythingIsUnloaded) {
  Stale nfs, nvme, lustre;
  nfs.holder("mlx5_core", "rdma_cm", "2");
  nfs.holder("rdma_cm", "rpcrdma", "1");
  nfs.files["/proc/mounts"] = "10.9.0.5:/d /data nfs rw,vers=4.2,proto=rdma,port=20049 0 0\n";
  Finding finding = forbidden(nfs, wanted(Reload::always));
  EXPECT_EQ(finding.cause, "driver.storage_modules_loaded");
  EXPECT_EQ(finding.subject.module, "rpcrdma");
  EXPECT_EQ(finding.found, "mounted: /data");
  nvme.holder("ib_core", "nvme_rdma", "0");
  nvme.files["/sys/class/nvme/nvme2/transport"] = "rdma\n";
  EXPECT_EQ(forbidden(nvme, wanted()).found, "nvme2");
  lustre.holder("rdma_cm", "ko2iblnd", "3");
  EXPECT_EQ(forbidden(lustre, wanted()).found, "3 users");
  lustre.files["/proc/mounts"] = "10.0.0.1@o2ib:/l /lustre lustre rw 0 0\n";
  EXPECT_EQ(forbidden(lustre, wanted()).found, "mounted: /lustre");
}

TEST(DriverReload, AProcessWithAnOpenDeviceIsNamed) {
  Stale host;
  host.files["/proc/99/comm"] = "python3\n";
  host.links["/proc/99/fd/7"] = "/dev/infiniband/uverbs0";
  const Finding finding = forbidden(host, wanted());
  EXPECT_EQ(finding.cause, "stage.node_busy");
  EXPECT_EQ(finding.found, "process 99 python3 has /dev/infiniband/uverbs0 open");
}

TEST(DriverReload, IdleModulesAreTakenAwayAndPeermemComesBack) {
  Stale host;
  host.holder("ib_core", "nvidia_peermem", "0");
  host.holder("ib_core", "ib_iser", "0");
  host.holder("ib_core", "ib_umad", "5");
  EXPECT_THAT(commands(plan_of(driver_step, wanted(), host)),
              ElementsAre("modprobe -r ib_iser", "modprobe -r nvidia_peermem", "/etc/init.d/openibd restart",
                          "modprobe nvidia_peermem"));
  ASSERT_TRUE(apply_of(driver_step, wanted(), host));
  Stale used;
  used.holder("ib_core", "nvidia_peermem", "2");
  EXPECT_EQ(forbidden(used, wanted()).subject.module, "nvidia_peermem");
}

TEST(DriverReload, AModuleThatStaysAfterAllStopsTheRestart) {
  Stale host;
  host.holder("ib_core", "ib_iser", "0");
  host.on_run = [answer = host.on_run](const auto& a) -> std::optional<CommandResult> {
    if (a[0] == "modprobe" && a[1] == "-r") return CommandResult{1, "", "modprobe: FATAL: Module ib_iser is in use.\n"};
    return answer(a);
  };
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(driver_step, wanted(), host, &findings));
  EXPECT_EQ(findings.at(0).cause, "driver.storage_modules_loaded");
  EXPECT_THAT(host.accesses_of("run /etc/init.d/openibd"), IsEmpty());
}

TEST(DriverReload, UnderItsOwnDefaultRouteItIsRefusedUnlessTold) {
  Stale host;
  host.carries_ssh();
  const Finding finding = forbidden(host, wanted());
  EXPECT_EQ(finding.cause, "driver.management_nic");
  EXPECT_EQ(finding.found, "ens1f0np0 carries the default route");
  EXPECT_THAT(commands(plan_of(driver_step, wanted(Reload::always), host)),
              ElementsAre("systemd-run --wait --pipe --collect /etc/init.d/openibd restart"));
  host.links["/sys/class/net/ens1f0np0/device/driver"] = "../../../bus/pci/drivers/igb";
  EXPECT_THAT(commands(plan_of(driver_step, wanted(), host)), ElementsAre("/etc/init.d/openibd restart"));
}

TEST(DriverReload, ModulesThatDoNotLoadAreNamedWhateverTheExitCodeSays) {
  for (const char* name : {"openibd_failed.txt", "openibd_failed_terminal.txt", "openibd_skipped.txt"}) {
    Stale host;
    host.restart = {0, transcript(name), ""};
    std::vector<Finding> findings;
    EXPECT_FALSE(apply_of(driver_step, wanted(), host, &findings)) << name;
    ASSERT_FALSE(findings.empty()) << name;
    EXPECT_EQ(findings[0].cause, "driver.module_load_failed") << name;
    EXPECT_THAT(findings[0].subject.module, HasSubstr("mlx5_")) << name;
  }
}

TEST(DriverReload, AHeldModuleAndARejectedKeyAreToldApart) {
  Stale held, rejected;
  held.restart = {1, transcript("openibd_held.txt"), ""};
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(driver_step, wanted(), held, &findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause, "driver.storage_modules_loaded");
  EXPECT_EQ(findings[0].found, "rdma_cm: in use by: rpcrdma");
  rejected.restart = {1, "", "modprobe: ERROR: could not insert 'mlx5_core': Key was rejected by service\n"};
  findings.clear();
  EXPECT_FALSE(apply_of(driver_step, wanted(), rejected, &findings));
  EXPECT_EQ(findings.at(0).cause, "driver.module_unsigned");
}

}  // namespace
}  // namespace fabricgate::bootstrap
