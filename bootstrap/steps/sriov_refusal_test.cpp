// What stops VFs, beforehand and when it is tried.
#include "bootstrap/steps/sriov_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::apply_of;
using testing::commands;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::plan_of;
using testing::SriovMachine;
using testing::with_vfs;

const std::string pf = "/sys/bus/pci/devices/0000:01:00.0";

Finding only_finding(const StepPlan& plan) {
  EXPECT_THAT(commands(plan), IsEmpty());
  EXPECT_EQ(plan.findings.size(), 1u);
  return plan.findings.empty() ? Finding{} : plan.findings[0];
}

TEST(SriovStep, MoreVfsThanTheFunctionHasAreRefusedBeforehand) {
  SriovMachine host;
  const Finding finding = only_finding(plan_of(sriov_step, with_vfs(8), host));
  EXPECT_EQ(finding.cause, "vf.exceeds_total");
  EXPECT_EQ(finding.found, "at most 7");
  EXPECT_EQ(finding.subject.pci, "0000:01:00.0");
  EXPECT_EQ(finding.subject.rail, "rail0");
}

TEST(SriovStep, WhatHasNoVfsAtAllIsNamed) {
  SriovMachine without, unbound, soft, absent;
  without.files.erase(pf + "/sriov_totalvfs");
  EXPECT_EQ(only_finding(plan_of(sriov_step, with_vfs(2), without)).cause, "vf.totalvfs_missing");
  unbound.links.erase(pf + "/driver");
  EXPECT_EQ(only_finding(plan_of(sriov_step, with_vfs(2), unbound)).cause, "rdma.function_unbound");
  soft.links["/sys/class/net/e1"] = "../../devices/virtual/net/e1";
  EXPECT_EQ(only_finding(plan_of(sriov_step, with_vfs(2), soft)).found, "no PCI function below e1");
  Desired wanted = with_vfs(2);
  wanted.rails[0].netdev = "e9";
  EXPECT_EQ(only_finding(plan_of(sriov_step, wanted, absent)).cause, "link.absent");
}

TEST(SriovStep, TheFunctionOfTheSshConnectionIsNeverTouchedEvenBelowABond) {
  SriovMachine host;
  host.interface_addresses = {{"bond0", "192.168.9.9", 24}};
  host.files["/proc/self/environ"] = std::string("SSH_CONNECTION=192.168.9.1 5 192.168.9.9 22\0", 44);
  host.links["/sys/class/net/bond0/lower_bond1"] = "../bond1";
  host.links["/sys/class/net/bond1/lower_e1"] = "../e1";
  const Finding finding = only_finding(plan_of(sriov_step, with_vfs(2), host));
  EXPECT_EQ(finding.cause, "stage.own_interface");
  EXPECT_EQ(finding.found, "e1 is below bond0, which carries this SSH connection");
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(2), host));
  EXPECT_EQ(host.count(), 0);
  EXPECT_THAT(plan_of(sriov_step, with_vfs(0), host).findings, IsEmpty()) << "nothing to do";
}

struct Use {
  const char* what;
  std::function<void(SriovMachine&)> begin;
  const char* found;
};

const Use uses[] = {
    {"another network namespace",
     [](SriovMachine& h) {
       h.files.erase(SriovMachine::folder(1) + "/net/e1v1/flags");
       h.files[SriovMachine::folder(1) + "/net/"] = "";
     },
     "VF 1 (0000:01:10.2): its interface is in another network namespace"},
    {"a guest",
     [](SriovMachine& h) {
       h.links[SriovMachine::folder(1) + "/driver"] = "../../../bus/pci/drivers/vfio-pci";
       h.links[SriovMachine::folder(1) + "/iommu_group"] = "../../../kernel/iommu_groups/31";
       h.links["/proc/77/fd/9"] = "/dev/vfio/31";
       h.files["/proc/77/comm"] = "qemu\n";
     },
     "VF 1 (0000:01:10.2): handed on through vfio-pci, process 77 qemu"},
    {"an address",
     [](SriovMachine& h) {
       h.interface_addresses = {{"e1v1", "10.78.0.1", 24}};
     },
     "VF 1 (0000:01:10.2): e1v1 has the address 10.78.0.1/24"},
    {"a bond", [](SriovMachine& h) { h.links["/sys/class/net/e1v1/master"] = "../bond0"; },
     "VF 1 (0000:01:10.2): e1v1 belongs to bond0"},
    {"an RDMA process",
     [](SriovMachine& h) {
       h.files[SriovMachine::folder(1) + "/infiniband/mlx5_5/x"] = "";
       h.files["/sys/class/infiniband_verbs/uverbs3/ibdev"] = "mlx5_5\n";
       h.links["/proc/78/fd/4"] = "/dev/infiniband/uverbs3";
       h.files["/proc/78/comm"] = "ib_write_bw\n";
     },
     "VF 1 (0000:01:10.2): RDMA device mlx5_5 is open, process 78 ib_write_bw"},
};

TEST(SriovStep, VfsInUseAreNotTakenAwayAndTheirUsersAreNamed) {
  for (const Use& use : uses) {
    SriovMachine host;
    ASSERT_TRUE(apply_of(sriov_step, with_vfs(3), host));
    use.begin(host);
    for (const int count : {0, 2, 4}) {
      const Finding finding = only_finding(plan_of(sriov_step, with_vfs(count), host));
      EXPECT_EQ(finding.cause, "vf.count_busy") << use.what;
      EXPECT_THAT(finding.found, HasSubstr(std::string("3 VFs, in use: ") + use.found)) << use.what;
      ASSERT_TRUE(apply_of(sriov_step, with_vfs(count), host));
      EXPECT_EQ(host.count(), 3) << use.what;
    }
    EXPECT_THAT(commands(plan_of(sriov_step, with_vfs(3), host)), IsEmpty())
        << use.what << ": the right count may be used";
    EXPECT_THAT(plan_of(sriov_step, with_vfs(3), host).findings, IsEmpty()) << use.what;
  }
}

TEST(SriovStep, AVfInUseKeepsItsWrongMacAndIsNamed) {
  SriovMachine host;
  ASSERT_TRUE(host.write_in_place(pf + "/sriov_numvfs", "2"));
  host.interface_addresses = {{"e1v1", "10.78.0.1", 24}};
  const StepPlan plan = plan_of(sriov_step, with_vfs(2), host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "vf.guid_not_effective");
  EXPECT_EQ(plan.findings[0].subject.netdev, "e1v1");
  EXPECT_EQ(plan.findings[0].found,
            "MAC 36:8b:e8:7a:e0:6f, not changed because it is in use: e1v1 has the address 10.78.0.1/24");
  for (const std::string& line : commands(plan)) {
    EXPECT_THAT(line, Not(HasSubstr("0000:01:10.2")));
    EXPECT_THAT(line, Not(HasSubstr("vf 1 mac")));
  }
  ASSERT_TRUE(apply_of(sriov_step, with_vfs(2), host));
  EXPECT_EQ(host.mac(1), "36:8b:e8:7a:e0:6f\n");
  EXPECT_EQ(host.mac(0), vf_identity(with_vfs(2).rails[0], 0).mac + "\n");
}

struct Refusal {
  int code;
  const char* cause;
};

TEST(SriovStep, EveryErrnoOfACountHasItsOwnCauseWithTheKernelsWords) {
  for (const Refusal& refusal :
       {Refusal{EBUSY, "vf.busy_at_zero"}, Refusal{ERANGE, "vf.exceeds_total"}, Refusal{ENOSPC, "vf.vectors_exhausted"},
        Refusal{ENOMEM, "vf.mmio_exhausted"}, Refusal{ENOENT, "vf.not_configurable"},
        Refusal{EACCES, "vf.not_permitted"}, Refusal{EPERM, "vf.not_permitted"}, Refusal{EROFS, "vf.not_permitted"},
        Refusal{EINVAL, "vf.creation_failed"}, Refusal{EIO, "vf.creation_failed"}}) {
    SriovMachine host;
    host.kernel_messages = {{1, "igb 0000:01:00.0: of an earlier time"}};
    host.refuse_count = refusal.code;
    std::vector<Finding> findings;
    EXPECT_FALSE(apply_of(sriov_step, with_vfs(2), host, &findings));
    ASSERT_EQ(findings.size(), 1u) << refusal.code;
    EXPECT_EQ(findings[0].cause, refusal.cause) << refusal.code;
    ASSERT_EQ(findings[0].evidence.size(), 1u) << "of this function and this window alone";
    EXPECT_EQ(findings[0].evidence[0].text,
              "igb 0000:01:00.0: Failed to enable SR-IOV: -" + std::to_string(refusal.code));
    EXPECT_THAT(findings[0].found, HasSubstr("(" + std::to_string(refusal.code) + ")"));
    EXPECT_EQ(host.count(), 0);
    EXPECT_EQ(std::atoi(host.files.at(pf + "/sriov_drivers_autoprobe").c_str()), 1) << "as it was found";
  }
}

TEST(SriovStep, ACountThatCameInBetweenIsBusyWithVfs) {
  SriovMachine host;
  const Desired wanted = with_vfs(2);
  StepContext own = testing::context_of(wanted, host);
  const auto observed = sriov_step.observe(own);
  ASSERT_TRUE(observed);
  ASSERT_TRUE(host.write_in_place(pf + "/sriov_numvfs", "4"));
  EXPECT_FALSE(sriov_step.apply(own, *observed));
  ASSERT_EQ(own.findings.size(), 1u);
  EXPECT_EQ(own.findings[0].cause, "vf.count_busy");
  EXPECT_THAT(own.findings[0].found, HasSubstr("4 VFs already enabled. Disable before enabling 2 VFs"));
}

TEST(SriovStep, AVfWithoutADriverIsNamed) {
  SriovMachine host;
  host.no_driver = true;
  const Desired wanted = with_vfs(1);
  StepContext context{.desired = wanted, .host = host, .deadline = Deadline::in_seconds(60), .settle_s = 0};
  EXPECT_FALSE(sriov_step.apply(context, *sriov_step.observe(context)));
  ASSERT_EQ(context.findings.size(), 1u);
  EXPECT_EQ(context.findings[0].cause, "vf.unusable");
  EXPECT_EQ(context.findings[0].subject.pci, "0000:01:10.0");
  EXPECT_EQ(context.findings[0].found, "no driver");
}

TEST(SriovStep, AMacThatNeverTakesIsNamed) {
  SriovMachine host;
  host.resetting = 1000;
  const Desired wanted = with_vfs(1);
  StepContext context{.desired = wanted, .host = host, .deadline = Deadline::in_seconds(60), .settle_s = 0};
  EXPECT_FALSE(sriov_step.apply(context, *sriov_step.observe(context)));
  ASSERT_EQ(context.findings.size(), 1u);
  EXPECT_EQ(context.findings[0].cause, "vf.guid_not_effective");
  EXPECT_EQ(context.findings[0].expected, "MAC " + vf_identity(wanted.rails[0], 0).mac);
}

TEST(SriovStep, ASettingThatTheDriverRefusesFailsAndTheRestIsDone) {
  SriovMachine host;
  auto ip = host.on_run;
  host.on_run = [ip](const auto& a) -> std::optional<CommandResult> {
    if (a.size() > 7 && (a[7] == "state" || a[7] == "mac"))
      return CommandResult{2, "", "RTNETLINK answers: Operation not supported\n"};
    return ip(a);
  };
  Desired wanted = with_vfs(1);
  wanted.rails[0].vf = {.trust = true, .link_policy = LinkPolicy::down};
  std::vector<Finding> findings;
  const Status status = apply_of(sriov_step, wanted, host, &findings);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("Operation not supported"));
  EXPECT_EQ(findings.at(0).cause, "vf.guid_not_effective");
  EXPECT_EQ(findings[0].expected, vf_identity(wanted.rails[0], 0).mac);
  EXPECT_EQ(host.settings[0]["trust"], "on");
}

}  // namespace
}  // namespace fabricgate::bootstrap
