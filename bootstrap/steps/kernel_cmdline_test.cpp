#include "bootstrap/steps/step_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plan_of;

constexpr const char* drop_in = "/etc/default/grub.d/90-fabricgate.cfg";
constexpr const char* config = "/boot/grub/grub.cfg";
constexpr const char* remembered = "/etc/fabricgate/kernel-arguments";
constexpr const char* all = "intel_iommu=on iommu=pt pci=realloc";

Desired desired() {
  Desired out;
  out.node = "n1";
  out.kernel_cmdline = true;
  return out;
}

std::unique_ptr<FakeHost> machine() {
  auto host = std::make_unique<FakeHost>();
  host->files = {{"/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1 root=/dev/sda1 ro quiet\n"},
                 {"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nprocessor\t: 1\n"}};
  return host;
}

/// As Debian has it: update-grub writes the entries anew, with the drop-in's arguments.
std::unique_ptr<FakeHost> debian() {
  auto host = machine();
  FakeHost* machine = host.get();
  host->files["/usr/sbin/update-grub"] = "";
  const std::string before = "menuentry 'Debian' {\n\tlinux\t/boot/vmlinuz-6.1 root=/dev/sda1 ro";
  host->files[config] = before + "  quiet\n}\n";
  host->changing = [](const auto& a) { return a[0] == "update-grub"; };
  host->on_run = [machine, before](const auto& a) -> std::optional<CommandResult> {
    if (a[0] != "update-grub") return std::nullopt;
    const std::string text = machine->files[drop_in], mark = "${GRUB_CMDLINE_LINUX} ";
    const auto at = text.find(mark);
    const std::string own =
        at == std::string::npos ? "" : text.substr(at + mark.size(), text.rfind('"') - at - mark.size());
    machine->files[config] = before + " " + own + " quiet\n}\n";
    return CommandResult{0, "", "Generating grub configuration file ...\ndone\n"};
  };
  return host;
}

/// As RHEL has it: grubby keeps the arguments of every entry.
std::unique_ptr<FakeHost> rhel(const std::string& arguments = "ro crashkernel=1G") {
  auto host = machine();
  host->files["/usr/sbin/grubby"] = "";
  auto entry = std::make_shared<std::string>(arguments);
  host->changing = [](const auto& a) { return a[0] == "grubby" && a[1] != "--info=DEFAULT"; };
  host->on_run = [entry](const auto& a) -> std::optional<CommandResult> {
    if (join(a) == "grubby --info=DEFAULT")
      return CommandResult{0, "index=0\nkernel=\"/boot/vmlinuz-5.14\"\nargs=\"" + *entry + "\"\nroot=\"/dev/sda1\"\n",
                           ""};
    const std::string add = "--args=", take = "--remove-args=";
    if (a.size() == 3 && a[2].rfind(add, 0) == 0) *entry += " " + a[2].substr(add.size());
    if (a.size() == 3 && a[2].rfind(take, 0) == 0) entry->erase(entry->find(" " + a[2].substr(take.size())));
    return CommandResult{0, "", ""};
  };
  return host;
}

void boot_with(FakeHost& host, const std::string& arguments) {
  host.files["/proc/cmdline"] = "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro " + arguments + "\n";
}

TEST(KernelCmdlineStep, OnDebianItIsADropInAndUpdateGrub) {
  auto host = debian();
  EXPECT_THAT(commands(plan_of(kernel_cmdline_step, desired(), *host)),
              ElementsAre(HasSubstr(std::string(drop_in) +
                                    " <<'EOF'\n# written by fabricgate; changes are overwritten by the next stage\n"
                                    "GRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX} " +
                                    all + "\"\nEOF"),
                          "update-grub"));
}

TEST(KernelCmdlineStep, WhatWasWrittenIsBlockedUntilBootedWithAndIsNeverWrittenTwice) {
  for (auto& host : {debian(), rhel()}) {
    ASSERT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
    host->changes_left = 0;
    ASSERT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
    const StepPlan plan = plan_of(kernel_cmdline_step, desired(), *host);
    EXPECT_THAT(commands(plan), IsEmpty());
    ASSERT_EQ(plan.findings.size(), 1u);
    EXPECT_EQ(plan.findings[0].cause, "kernel.cmdline_pending");
    EXPECT_EQ(plan.findings[0].verdict, Verdict::blocked);
    EXPECT_EQ(plan.findings[0].found, std::string("written, but booted without ") + all);
    boot_with(*host, all);
    const StepPlan booted = plan_of(kernel_cmdline_step, desired(), *host);
    EXPECT_THAT(commands(booted), IsEmpty());
    EXPECT_THAT(booted.findings, IsEmpty());
  }
}

TEST(KernelCmdlineStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(kernel_cmdline_step, desired(), debian);
  testing::expect_converges_from_any_interruption(kernel_cmdline_step, desired(), [] { return rhel(); });
}

TEST(KernelCmdlineStep, OnRhelItIsGrubbyAndOnlyWhatIsNotThereIsAdded) {
  auto host = rhel("ro intel_iommu=on iommu=pt");
  EXPECT_THAT(
      commands(plan_of(kernel_cmdline_step, desired(), *host)),
      ElementsAre(HasSubstr(std::string(remembered) + " <<'EOF'\n"), "grubby --update-kernel=ALL --args=pci=realloc"));
}

TEST(KernelCmdlineStep, AnAmdProcessorHasItsOwnName) {
  auto host = debian();
  host->files["/proc/cpuinfo"] = "vendor_id\t: AuthenticAMD\n";
  EXPECT_THAT(commands(plan_of(kernel_cmdline_step, desired(), *host)).at(0),
              HasSubstr("} amd_iommu=on iommu=pt pci=realloc\""));
  host->files["/proc/cpuinfo"] = "CPU implementer\t: 0x41\n";
  EXPECT_THAT(commands(plan_of(kernel_cmdline_step, desired(), *host)).at(0), HasSubstr("} pci=realloc\""));
}

TEST(KernelCmdlineStep, WhoeverWroteItAndAmongOtherOptionsItCounts) {
  auto host = debian();
  host->files[config] = "\tlinux /vmlinuz ro intel_iommu=on,sm_on iommu=pt pci=realloc pci=noaer\n";
  boot_with(*host, "intel_iommu=off intel_iommu=on,sm_on iommu=pt pci=noaer,realloc");
  const StepPlan plan = plan_of(kernel_cmdline_step, desired(), *host);
  EXPECT_THAT(commands(plan), IsEmpty());
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(KernelCmdlineStep, AnEntryThatSaysTheOppositeIsNamedAndLeftAlone) {
  for (const char* other : {"intel_iommu=off", "pci=noaer", "iommu=soft"}) {
    auto host = rhel(std::string("ro ") + other);
    const StepPlan plan = plan_of(kernel_cmdline_step, desired(), *host);
    EXPECT_THAT(commands(plan), IsEmpty());
    ASSERT_EQ(plan.findings.size(), 1u);
    EXPECT_EQ(plan.findings[0].cause, "kernel.cmdline_conflict");
    EXPECT_EQ(plan.findings[0].found, other);
    host->changes_left = 0;
    EXPECT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
  }
}

TEST(KernelCmdlineStep, ANodeWithNeitherLoaderIsNamedAndNothingIsChanged) {
  auto bare = machine(), without_config = debian();
  without_config->files.erase(config);
  for (FakeHost* host : {bare.get(), without_config.get()}) {
    host->changes_left = 0;
    const StepPlan plan = plan_of(kernel_cmdline_step, desired(), *host);
    EXPECT_THAT(commands(plan), IsEmpty());
    ASSERT_EQ(plan.findings.size(), 1u);
    EXPECT_EQ(plan.findings[0].cause, "kernel.loader_unknown");
    EXPECT_EQ(plan.findings[0].verdict, Verdict::blocked);
    EXPECT_THAT(plan.findings[0].found, HasSubstr(all));
    EXPECT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
    boot_with(*host, all);
    EXPECT_THAT(plan_of(kernel_cmdline_step, desired(), *host).findings, IsEmpty());
  }
}

TEST(KernelCmdlineStep, WithoutADemandNothingIsLookedAt) {
  auto host = debian();
  EXPECT_THAT(commands(plan_of(kernel_cmdline_step, {}, *host)), IsEmpty());
  EXPECT_THAT(host->accesses, IsEmpty());
}

TEST(KernelCmdlineStep, AToolThatFailsIsQuoted) {
  auto host = debian();
  host->on_run = [](const auto&) { return CommandResult{1, "", "grub-probe: error: cannot find a device for /\n"}; };
  const Status status = apply_of(kernel_cmdline_step, desired(), *host);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("cannot find a device"));
  auto red = rhel();
  red->on_run = [](const auto&) { return CommandResult{1, "", "The param DEFAULT is incorrect\n"}; };
  const Status unseen = apply_of(kernel_cmdline_step, desired(), *red);
  ASSERT_FALSE(unseen);
  EXPECT_THAT(unseen.error().what, HasSubstr("DEFAULT is incorrect"));
}

TEST(KernelCmdlineStep, AFullDiskIsNamed) {
  auto host = debian();
  host->space[drop_in] = 4096;
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(kernel_cmdline_step, desired(), *host, &findings));
  EXPECT_EQ(findings.at(0).cause, "stage.disk_full");
}

TEST(KernelCmdlineStep, UnstageTakesAwayWhatItGaveAndNoMore) {
  const Step& undo = *kernel_cmdline_step.undo;
  auto deb = debian(), red = rhel("ro iommu=pt");
  for (FakeHost* host : {deb.get(), red.get()}) {
    EXPECT_THAT(commands(plan_of(undo, desired(), *host)), IsEmpty());
    ASSERT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
    ASSERT_TRUE(apply_of(undo, desired(), *host));
    EXPECT_EQ(host->files.count(drop_in) + host->files.count(remembered), 0u);
    EXPECT_THAT(commands(plan_of(undo, desired(), *host)), IsEmpty());
  }
  EXPECT_THAT(deb->files[config], ::testing::Not(HasSubstr("iommu")));
  EXPECT_THAT(red->accesses_of("run grubby --update"),
              ElementsAre(HasSubstr("--args=intel_iommu=on pci=realloc"),
                          HasSubstr("--remove-args=intel_iommu=on pci=realloc")));
}

TEST(KernelCmdlineStep, ARemovalThatWasKilledIsFinished) {
  const Step& undo = *kernel_cmdline_step.undo;
  for (int allowed = 0; allowed < 3; ++allowed) {
    auto host = debian();
    ASSERT_TRUE(apply_of(kernel_cmdline_step, desired(), *host));
    host->changes_left = allowed;
    EXPECT_FALSE(apply_of(undo, desired(), *host));
    host->changes_left = -1;
    ASSERT_TRUE(apply_of(undo, desired(), *host));
    EXPECT_EQ(host->files.count(drop_in), 0u);
    EXPECT_THAT(host->files[config], ::testing::Not(HasSubstr("iommu")));
  }
}

}  // namespace
}  // namespace fabricgate::bootstrap
