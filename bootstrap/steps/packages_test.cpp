#include "bootstrap/steps/package_manager.hpp"
#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;

Desired desired() {
  Desired out;
  out.node = "n1";
  out.packages = {"rdma-core", "libucx0"};
  return out;
}

const std::string install = "apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold libucx0";

/// apt machine with rdma-core; libucx0 can be installed.
class Machine : public FakeHost {
 public:
  explicit Machine(const std::string& program = "/usr/bin/apt-get") {
    files[program] = "";
    changing = [](const auto& a) { return a[0] == "apt-get" || a[0] == "dnf" || a[0] == "dpkg"; };
    on_run = [this](const auto& a) { return answer(a); };
  }

  bool installed = false;
  CommandResult update{0, "", ""};
  CommandResult install_result{0, "", ""};

 private:
  std::optional<CommandResult> answer(const std::vector<std::string>& a) {
    if (a[0] == "dpkg-query")
      return CommandResult{
          1, std::string("rdma-core installed\nlibucx0 ") + (installed ? "installed\n" : "half-configured\n"), ""};
    if (a[0] == "rpm")
      return CommandResult{1, installed ? "rdma-core\nlibucx0\n" : "rdma-core\npackage libucx0 is not installed\n", ""};
    if (a[1] == "update") return update;
    if (a[0] == "dpkg") return CommandResult{0, "", ""};
    installed = install_result.exit_code == 0;
    return install_result;
  }
};

/// Applies without waiting for locks and gives the one finding.
Finding failure(Machine& host) {
  const Desired wanted = desired();
  StepContext context{.desired = wanted, .host = host, .deadline = Deadline::in_seconds(60), .lock_wait_s = 0};
  auto observed = packages_step.observe(context);
  EXPECT_TRUE(observed);
  EXPECT_FALSE(packages_step.apply(context, *observed));
  EXPECT_EQ(context.findings.size(), 1u);
  return context.findings.empty() ? Finding{} : context.findings[0];
}

TEST(PackagesStep, OnlyWhatIsMissingIsInstalledAndHalfInstalledIsMissing) {
  Machine host;
  EXPECT_THAT(commands(plan_of(packages_step, desired(), host)), ElementsAre("apt-get update", install));
  Machine red_hat("/usr/bin/dnf");
  EXPECT_THAT(commands(plan_of(packages_step, desired(), red_hat)),
              ElementsAre("dnf install -y --setopt=exit_on_lock=True libucx0"));
}

TEST(PackagesStep, APackageThatIsCheckedOnlyAndNotInstalledIsNamedAndNothingIsDone) {
  Machine host;
  Desired wanted = desired();
  wanted.manage.packages = false;
  const StepPlan plan = plan_of(packages_step, wanted, host);
  EXPECT_THAT(plan.actions, IsEmpty());
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "host.package_absent");
  EXPECT_EQ(plan.findings[0].verdict, Verdict::fail);
  EXPECT_THAT(plan.findings[0].expected, HasSubstr("libucx0"));
  host.installed = true;
  EXPECT_THAT(plan_of(packages_step, wanted, host).findings, IsEmpty());
}

TEST(PackagesStep, ApplyingTwiceChangesNothingTheSecondTime) {
  Machine host;
  ASSERT_TRUE(testing::apply_of(packages_step, desired(), host));
  EXPECT_THAT(commands(plan_of(packages_step, desired(), host)), IsEmpty());
}

TEST(PackagesStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(packages_step, desired(), [] {
    auto host = std::make_unique<Machine>();
    host->files["/var/lib/dpkg/updates/0001"] = "";
    return host;
  });
}

TEST(PackagesStep, AnInterruptedDpkgIsFinishedFirst) {
  Machine host;
  host.files["/var/lib/dpkg/updates/0001"] = "";
  EXPECT_THAT(commands(plan_of(packages_step, desired(), host)),
              ElementsAre("dpkg --configure -a", "apt-get update", install));
}

TEST(PackagesStep, AHeldLockNamesItsHolderAndIsNotRemoved) {
  Machine host;
  host.files["/proc/812/comm"] = "unattended-upgr\n";
  host.files["/var/lib/dpkg/lock-frontend"] = "";
  host.links["/proc/812/fd/4"] = "/var/lib/dpkg/lock-frontend";
  const Finding finding = failure(host);
  EXPECT_EQ(finding.cause, "stage.package_lock");
  EXPECT_EQ(finding.verdict, Verdict::blocked);
  EXPECT_EQ(finding.found, "held by process 812 unattended-upgr");
  EXPECT_THAT(host.accesses_of("run apt-get"), IsEmpty());
  EXPECT_THAT(host.accesses_of("remove "), IsEmpty());
}

TEST(PackagesStep, ALockTakenInBetweenIsTheSame) {
  Machine host;
  host.install_result = {100, "",
                         "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt)\n"};
  const Finding finding = failure(host);
  EXPECT_EQ(finding.cause, "stage.package_lock");
  EXPECT_THAT(finding.found, HasSubstr("process 77 (apt)"));
}

TEST(PackagesStep, ALockThatIsGivenBackIsWaitedFor) {
  Machine host;
  host.links["/proc/812/fd/4"] = "/var/lib/dpkg/lock";
  int looks = 0;
  class Releasing : public Machine {
   public:
    int* looks = nullptr;
    Result<std::string> read_link(const std::string& path) override {
      if (path == "/proc/812/fd/4" && ++*looks == 2) links.erase(path);
      return Machine::read_link(path);
    }
  } releasing;
  releasing.links = host.links;
  releasing.looks = &looks;
  EXPECT_TRUE(testing::apply_of(packages_step, desired(), releasing));
  EXPECT_EQ(looks, 2);
}

TEST(PackagesStep, AnUnreachableSourceIsTheCauseAndNotTheUnknownPackage) {
  Machine host;
  host.update = {0, "", "W: Failed to fetch http://mirror/x  Temporary failure resolving 'mirror'\n"};
  host.install_result = {100, "", "E: Unable to locate package libucx0\n"};
  EXPECT_EQ(failure(host).cause, "stage.repo_unreachable");
}

TEST(PackagesStep, AnUnknownPackageIsNamed) {
  Machine host;
  host.install_result = {100, "", "E: Unable to locate package libucx0\n"};
  const Finding finding = failure(host);
  EXPECT_EQ(finding.cause, "host.package_missing");
  EXPECT_THAT(finding.found, HasSubstr("libucx0"));
}

TEST(PackagesStep, AFullDiskIsSeenBeforehandAndInTheOutput) {
  Machine before;
  before.space["/usr"] = 1000;
  EXPECT_EQ(failure(before).cause, "stage.disk_full");
  EXPECT_THAT(before.accesses_of("run apt-get"), IsEmpty());
  Machine during;
  during.install_result = {100, "", "dpkg: error: failed to write: No space left on device\n"};
  EXPECT_EQ(failure(during).cause, "stage.disk_full");
  EXPECT_EQ(classify_failure("Error Summary: At least 120MB more space needed on the / filesystem."),
            "stage.disk_full");
}

TEST(PackagesStep, AnUnknownFailureKeepsItsText) {
  Machine host;
  host.install_result = {100, "", "E: something new\n"};
  const Finding finding = failure(host);
  EXPECT_EQ(finding.cause, "stage.step_failed");
  EXPECT_EQ(finding.found, "E: something new\n");
}

TEST(PackagesStep, WithoutPackagesNothingIsLookedAt) {
  Machine host;
  Desired wanted = desired();
  wanted.packages.clear();
  EXPECT_THAT(plan_of(packages_step, wanted, host).actions, IsEmpty());
  EXPECT_THAT(host.accesses, IsEmpty());
}

TEST(PackagesStep, AMachineWithoutPackageManagerAndANameThatIsAnOptionAreErrors) {
  FakeHost bare;
  EXPECT_FALSE(testing::apply_of(packages_step, desired(), bare));
  Machine host;
  Desired wanted = desired();
  wanted.packages = {"--allow-unauthenticated"};
  EXPECT_FALSE(testing::apply_of(packages_step, wanted, host));
}

}  // namespace
}  // namespace fabricgate::bootstrap
