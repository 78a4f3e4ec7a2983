#include "bootstrap/steps/driver_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::Contains;
using testing::DriverNode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;
using testing::transcript;
using testing::wants_driver;

/// Applies without waiting for locks; the first finding.
Finding failure(DriverNode& host, const Desired& wanted) {
  StepContext context{.desired = wanted, .host = host, .deadline = Deadline::in_seconds(60), .lock_wait_s = 0};
  auto observed = driver_step.observe(context);
  EXPECT_TRUE(observed);
  EXPECT_FALSE(driver_step.apply(context, *observed));
  EXPECT_FALSE(context.findings.empty());
  return context.findings.empty() ? Finding{} : context.findings[0];
}

/// What the plan says; nothing is to be done then.
Finding obstacle(DriverNode& host, const Desired& wanted) {
  const StepPlan plan = plan_of(driver_step, wanted, host);
  EXPECT_THAT(commands(plan), IsEmpty());
  EXPECT_TRUE(apply_of(driver_step, wanted, host)) << "there is nothing it would do";
  EXPECT_THAT(host.accesses_of("run tar"), IsEmpty());
  EXPECT_EQ(plan.findings.size(), 1u);
  return plan.findings.empty() ? Finding{} : plan.findings[0];
}

TEST(DriverStep, ABundleWithAnotherChecksumIsNotUnpacked) {
  DriverNode host;
  host.sum = std::string(64, 'b');
  const Finding finding = obstacle(host, wants_driver("mlnx-ofed"));
  EXPECT_EQ(finding.cause, "stage.upload_truncated");
  EXPECT_EQ(finding.subject.file, "/srv/MLNX_OFED_LINUX-24.10-1.1.4.0-ubuntu22.04-x86_64.tgz");
  EXPECT_EQ(finding.found, host.sum);
}

TEST(DriverStep, ABundleOrKeyThatIsNotThereIsNamed) {
  DriverNode host;
  host.files.erase("/srv/MLNX_OFED_LINUX-24.10-1.1.4.0-ubuntu22.04-x86_64.tgz");
  EXPECT_EQ(obstacle(host, wants_driver("mlnx-ofed")).cause, "driver.bundle_missing");
  Desired wanted = wants_driver("doca-host");
  wanted.driver.repository = "https://a/b";
  wanted.driver.repository_key = "/etc/k.gpg";
  EXPECT_EQ(obstacle(host, wanted).subject.file, "/etc/k.gpg");
}

TEST(DriverStep, AFolderThatIsNotThereOrHasNoPackagesOfThisNodeIsNamed) {
  DriverNode host;
  Desired wanted = wants_driver("inbox");
  wanted.driver.bundle = "/srv/debs";
  Finding finding = obstacle(host, wanted);
  EXPECT_EQ(finding.cause, "driver.bundle_missing");
  EXPECT_EQ(finding.subject.file, "/srv/debs");
  host.files["/srv/debs/rdma-core-44.0-2.el9.x86_64.rpm"] = "";
  EXPECT_EQ(obstacle(host, wanted).found, "no such file in it");
}

TEST(DriverStep, AFullDiskIsSeenBeforehand) {
  DriverNode host;
  host.space["/var/tmp"] = 1'500'000'000;  // the archive has 1 GB
  const Finding finding = obstacle(host, wants_driver("mlnx-ofed"));
  EXPECT_EQ(finding.cause, "stage.disk_full");
  EXPECT_EQ(finding.subject.file, "/var/tmp");
}

TEST(DriverStep, SecureBootAndLockdownAreSeenBeforehandUnlessAKeyIsEnrolled) {
  const std::string variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  for (const auto& [path, content, said] :
       {std::tuple<std::string, std::string, const char*>{variable, std::string("\6\0\0\0\1", 5), "secure boot is on"},
        {"/sys/kernel/security/lockdown", "none [integrity] confidentiality\n", "lockdown"},
        {"/sys/module/module/parameters/sig_enforce", "Y\n", "sig_enforce"}}) {
    DriverNode host;
    host.files[path] = content;
    const Finding finding = obstacle(host, wants_driver("mlnx-ofed"));
    EXPECT_EQ(finding.cause, "driver.module_unsigned");
    EXPECT_EQ(finding.verdict, Verdict::blocked);
    EXPECT_THAT(finding.found, HasSubstr(said));
    host.enrolled = "        Subject: O=Mellanox Technologies, CN=Mellanox Technologies signing key\n";
    EXPECT_THAT(plan_of(driver_step, wants_driver("mlnx-ofed"), host).findings, IsEmpty());
    host.enrolled.clear();
    EXPECT_THAT(plan_of(driver_step, wants_driver("inbox"), host).findings, IsEmpty());
  }
  DriverNode off;
  off.files[variable] = std::string("\6\0\0\0\0", 5);
  off.files["/sys/kernel/security/lockdown"] = "[none] integrity confidentiality\n";
  EXPECT_THAT(plan_of(driver_step, wants_driver("mlnx-ofed"), off).findings, IsEmpty());
}

TEST(DriverStep, AnotherReleaseWithoutABundleAndAnotherStackAreNamed) {
  DriverNode older, none, vendors;
  Desired wanted = wants_driver("mlnx-ofed");
  wanted.driver.bundle = wanted.driver.sha256 = "";
  older.release = "5.8-3.0.7.0";
  EXPECT_EQ(obstacle(older, wanted).found, "5.8-3.0.7.0, and no bundle is declared");
  EXPECT_EQ(obstacle(none, wanted).cause, "driver.version_mismatch");
  vendors.release = "24.10-1.1.4.0";
  EXPECT_THAT(obstacle(vendors, wants_driver("inbox")).found, HasSubstr("ofed_uninstall.sh"));
}

TEST(DriverStep, AHeldPackageLockIsNamedAndNothingIsInstalled) {
  for (const char* source : {"mlnx-ofed", "inbox"}) {
    DriverNode host;
    host.files["/proc/812/comm"] = "unattended-upgr\n";
    host.links["/proc/812/fd/4"] = "/var/lib/dpkg/lock-frontend";
    const Finding finding = failure(host, wants_driver(source));
    EXPECT_EQ(finding.cause, "stage.package_lock");
    EXPECT_EQ(finding.found, "held by process 812 unattended-upgr");
    EXPECT_THAT(host.accesses_of("run apt-get"), IsEmpty());
  }
}

TEST(DriverStep, AFailedBuildQuotesTheFirstCompilerErrorOfItsLog) {
  DriverNode host;
  host.installer = {1, transcript("mlnxofedinstall_build_failed.txt"), ""};
  host.files["/tmp/MLNX_OFED_LINUX-4.9-4.1.7.0-5.14.0-rc5/mlnx_iso.14699_logs/mlnx_ofed_iso.14699.log"] =
      transcript("mlnx_ofed_iso.log");
  host.files["/tmp/mlnx-ofed-kernel.debbuild.log"] = transcript("mlnx-ofed-kernel.debbuild.log");
  const Finding finding = failure(host, wants_driver("mlnx-ofed"));
  EXPECT_EQ(finding.cause, "driver.build_failed");
  EXPECT_EQ(finding.subject.file, "/tmp/mlnx-ofed-kernel.debbuild.log");
  EXPECT_EQ(finding.subject.line, 3);
  EXPECT_THAT(finding.found, HasSubstr("error: redefinition of 'strscpy'"));
  EXPECT_THAT(host.accesses_of("run rm"), ::testing::SizeIs(2)) << "the folder is taken away after a failure too";
}

TEST(DriverStep, AFailedDkmsBuildIsFoundEvenIfAptSaysNothing) {
  for (const int code : {0, 100}) {
    DriverNode host;
    host.install = {code, transcript("dkms_failed.txt"), ""};
    host.files["/var/lib/dpkg/updates/"] = "";
    host.files["/var/lib/dkms/mlnx-ofed-kernel/24.10.OFED.24.10.1.1.4.1/build/make.log"] = "a.c:1:2: error: no\n";
    const Finding finding = failure(host, wants_driver("doca-host"));
    EXPECT_EQ(finding.cause, "driver.build_failed");
    EXPECT_THAT(finding.found, HasSubstr("a.c:1:2: error: no"));
  }
}

TEST(DriverStep, AnInstallerThatRanOutOfSpaceAndSaysSuccessFailed) {
  DriverNode host;
  host.installer = {0, transcript("mlnxofedinstall_disk_full.txt"), ""};
  EXPECT_EQ(failure(host, wants_driver("mlnx-ofed")).cause, "stage.disk_full");
}

TEST(DriverStep, EveryReturnCodeOfTheInstallerIsExplained) {
  for (const auto& [code, cause, said] :
       {std::tuple<int, const char*, const char*>{1, "stage.step_failed", "exit code 1"},
        {2, "stage.step_failed", "no firmware was found"},
        {22, "stage.step_failed", "invalid parameter"},
        {28, "stage.disk_full", "not enough free space"},
        {171, "stage.step_failed", "is the hardware there"},
        {172, "stage.step_failed", "prerequisites are not met"},
        {173, "stage.step_failed", "mst driver"}}) {
    DriverNode host;
    host.installer = {code, transcript("mlnxofedinstall_missing_packages.txt"), ""};
    const Finding finding = failure(host, wants_driver("mlnx-ofed"));
    EXPECT_EQ(finding.cause, cause);
    EXPECT_THAT(finding.found, HasSubstr(said));
    EXPECT_THAT(finding.found, HasSubstr("yum install tcl tk")) << "what the installer said";
  }
}

TEST(DriverStep, PackagesWhoseSourceIsNotReachedAreNotCalledUnknown) {
  DriverNode host;
  auto answer = host.on_run;
  host.on_run = [answer](const auto& a) -> std::optional<CommandResult> {
    if (a[0] == "apt-get" && a[1] == "update")
      return CommandResult{100, "", "W: Failed to fetch http://mirror/x  Temporary failure resolving 'mirror'\n"};
    return answer(a);
  };
  host.install = {100, "", "E: Unable to locate package rdma-core\n"};
  EXPECT_EQ(failure(host, wants_driver("inbox")).cause, "stage.repo_unreachable");
}

TEST(DriverStep, ANameThatIsAnOptionIsRefused) {
  DriverNode host;
  Desired wanted = wants_driver("inbox");
  wanted.driver.packages = {"--allow-unauthenticated"};
  EXPECT_FALSE(apply_of(driver_step, wanted, host));
  FakeHost bare;
  EXPECT_FALSE(apply_of(driver_step, wants_driver("inbox"), bare)) << "neither apt-get nor dnf";
}

}  // namespace
}  // namespace fabricgate::bootstrap
