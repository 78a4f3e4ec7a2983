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

const std::string install = "apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold ";

TEST(DriverStep, ThePlanOfAnArchiveIsWhatAPersonWouldType) {
  DriverNode host;
  Desired wanted = wants_driver("mlnx-ofed");
  wanted.driver.flags = {"--add-kernel-support", "--without-fw-update"};
  EXPECT_THAT(commands(plan_of(driver_step, wanted, host)),
              ElementsAre("rm -rf --one-file-system /var/tmp/fabricgate-driver", "mkdir -p /var/tmp/fabricgate-driver",
                          "tar -xf /srv/MLNX_OFED_LINUX-24.10-1.1.4.0-ubuntu22.04-x86_64.tgz -C "
                          "/var/tmp/fabricgate-driver --strip-components=1",
                          "/var/tmp/fabricgate-driver/mlnxofedinstall --force --add-kernel-support --without-fw-update",
                          "rm -rf --one-file-system /var/tmp/fabricgate-driver"));
  EXPECT_THAT(host.accesses_of("run tar"), IsEmpty());
}

TEST(DriverStep, AnImageIsMountedOnceAndUnmounted) {
  DriverNode host;
  Desired wanted = wants_driver("mlnx-ofed");
  wanted.driver.bundle = "/srv/x.iso";
  host.files["/srv/x.iso"] = "";
  EXPECT_THAT(
      commands(plan_of(driver_step, wanted, host)),
      ElementsAre("mkdir -p /var/tmp/fabricgate-driver", "mount -o ro,loop /srv/x.iso /var/tmp/fabricgate-driver",
                  "/var/tmp/fabricgate-driver/mlnxofedinstall --force --without-fw-update",
                  "umount /var/tmp/fabricgate-driver"));
  host.files["/proc/mounts"] = "/dev/loop0 /var/tmp/fabricgate-driver iso9660 ro 0 0\n";
  EXPECT_THAT(commands(plan_of(driver_step, wanted, host)).front(), HasSubstr("mlnxofedinstall"));
}

TEST(DriverStep, ApplyingTwiceChangesNothingTheSecondTime) {
  for (const char* source : {"mlnx-ofed", "doca-host", "inbox"}) {
    DriverNode host;
    ASSERT_TRUE(apply_of(driver_step, wants_driver(source), host)) << source;
    const StepPlan again = plan_of(driver_step, wants_driver(source), host);
    EXPECT_THAT(commands(again), IsEmpty()) << source;
    EXPECT_THAT(again.findings, IsEmpty()) << source;
  }
}

TEST(DriverStep, ItFinishesFromAnyInterruption) {
  for (const char* source : {"mlnx-ofed", "doca-host", "inbox"})
    testing::expect_converges_from_any_interruption(driver_step, wants_driver(source),
                                                    [] { return std::make_unique<DriverNode>(); });
}

TEST(DriverStep, TheDistributionsPackagesComeByNameOrFromAFolder) {
  DriverNode host, folder, red_hat("/usr/bin/dnf");
  EXPECT_THAT(commands(plan_of(driver_step, wants_driver("inbox"), host)),
              ElementsAre("apt-get update", install + "rdma-core ibverbs-providers ibverbs-utils"));
  EXPECT_THAT(commands(plan_of(driver_step, wants_driver("inbox"), red_hat)),
              ElementsAre("dnf install -y --setopt=exit_on_lock=True rdma-core libibverbs libibverbs-utils"));
  Desired wanted = wants_driver("inbox");
  wanted.driver.bundle = "/srv/debs";
  folder.files["/srv/debs/rdma-core_44.0-2_amd64.deb"] = folder.files["/srv/debs/libibverbs1_44.0-2_amd64.deb"] = "";
  folder.files["/srv/debs/Packages.gz"] = "";
  folder.installed["libibverbs1"] = "44.0-2";
  EXPECT_THAT(commands(plan_of(driver_step, wanted, folder)),
              ElementsAre(install + "/srv/debs/rdma-core_44.0-2_amd64.deb"));
  ASSERT_TRUE(apply_of(driver_step, wanted, folder));
  EXPECT_THAT(commands(plan_of(driver_step, wanted, folder)), IsEmpty());
}

TEST(DriverStep, DocaComesFromItsBundleOrItsRepository) {
  DriverNode bundled, online;
  Desired wanted = wants_driver("doca-host");
  wanted.driver.bundle = "/srv/doca.deb";
  wanted.driver.sha256 = testing::bundle_sha256;
  bundled.files["/srv/doca.deb"] = "";
  EXPECT_THAT(commands(plan_of(driver_step, wanted, bundled)),
              ElementsAre("dpkg -i /srv/doca.deb", "apt-get update", install + "doca-ofed"));
  wanted = wants_driver("doca-host");
  wanted.driver.repository = "https://example.com/doca/";
  wanted.driver.repository_key = "/usr/share/keyrings/mellanox.gpg";
  online.files[wanted.driver.repository_key] = "";
  EXPECT_THAT(commands(plan_of(driver_step, wanted, online)),
              ElementsAre(HasSubstr("deb [signed-by=/usr/share/keyrings/mellanox.gpg] https://example.com/doca/ ./"),
                          "apt-get update", install + "doca-ofed"));
  ASSERT_TRUE(apply_of(driver_step, wanted, online));
  EXPECT_THAT(commands(plan_of(driver_step, wanted, online)), IsEmpty());
  EXPECT_THAT(commands(plan_of(*driver_step.undo, wanted, online)),
              Contains("rm /etc/apt/sources.list.d/fabricgate-doca.list"));
  ASSERT_TRUE(apply_of(*driver_step.undo, wanted, online));
  EXPECT_EQ(online.files.count("/etc/apt/sources.list.d/fabricgate-doca.list"), 0u);
}

TEST(DriverStep, AnotherReleaseOfDocaIsReplaced) {
  DriverNode host;
  Desired wanted = wants_driver("doca-host");
  wanted.driver.version = "3.0.0";
  host.installed["doca-ofed"] = "2.9.1018-1";
  EXPECT_THAT(commands(plan_of(driver_step, wanted, host)), Contains(install + "doca-ofed"));
  for (const char* same : {"3.0.0", "3.0.0-058000", "3.0.0058-1"}) {
    host.installed["doca-ofed"] = same;
    EXPECT_THAT(commands(plan_of(driver_step, wanted, host)), IsEmpty()) << same;
  }
}

TEST(DriverStep, AnInterruptedDpkgIsFinishedFirst) {
  DriverNode host;
  host.files["/var/lib/dpkg/updates/0001"] = "";
  EXPECT_EQ(commands(plan_of(driver_step, wants_driver("inbox"), host)).front(), "dpkg --configure -a");
}

TEST(DriverStep, AnotherOwnersDriverIsNotTouchedNorLookedAt) {
  for (const Owner owner : {Owner::none, Owner::operator_}) {
    DriverNode host;
    Desired wanted = wants_driver("mlnx-ofed");
    wanted.driver.owner = owner;
    EXPECT_TRUE(apply_of(driver_step, wanted, host));
    EXPECT_THAT(host.accesses, IsEmpty());
    EXPECT_THAT(commands(plan_of(driver_step, wanted, host)), IsEmpty());
  }
}

TEST(DriverStep, WhatGpudirectLacksIsSaidAndBlocksNothing) {
  DriverNode host;
  host.release = "24.10-1.1.4.0";
  host.files["/sys/module/nvidia/version"] = "550.54\n";
  host.files["/proc/sys/kernel/osrelease"] = "5.15.0-100-generic\n";
  host.commands["modinfo nvidia"] = {0, "license:        NVIDIA\n", ""};
  host.on_run = [answer = host.on_run](const auto& a) -> std::optional<CommandResult> {
    if (a[0] == "modinfo" && a[1] == "nvidia") return std::nullopt;
    return answer(a);
  };
  const StepPlan plan = plan_of(driver_step, wants_driver("mlnx-ofed"), host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "driver.peermem_missing");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::warn);
  EXPECT_THAT(plan.findings[0].found, HasSubstr("license 'NVIDIA', Linux 5.15.0-100-generic"));

  host.commands["modinfo nvidia"].out = "license:        Dual MIT/GPL\n";
  EXPECT_THAT(plan_of(driver_step, wants_driver("mlnx-ofed"), host).findings, IsEmpty()) << "DMA-BUF";
  host.files["/proc/sys/kernel/osrelease"] = "5.4.0\n";
  EXPECT_THAT(plan_of(driver_step, wants_driver("mlnx-ofed"), host).findings, ::testing::SizeIs(1));
  Desired loads = wants_driver("mlnx-ofed");
  loads.modules = {"nvidia-peermem"};
  EXPECT_THAT(plan_of(driver_step, loads, host).findings, IsEmpty());
  host.files["/sys/module/nvidia_peermem/refcnt"] = "0\n";
  EXPECT_THAT(plan_of(driver_step, wants_driver("mlnx-ofed"), host).findings, IsEmpty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
