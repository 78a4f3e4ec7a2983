#include "bootstrap/steps/roce.hpp"

#include "bootstrap/steps/step_testing.hpp"
#include "results/file.hpp"

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
  out.rails = {
      {.name = "rail0", .netdev = "ens1", .device = "mlx5_0", .address = *parse_ipv4("172.16.0.1"), .prefix = 16}};
  out.rails[0].roce = {.trust = "dscp", .pfc = std::vector<int>{3}, .ecn = std::vector<int>{3}, .traffic_class = 106};
  return out;
}

/// An adapter with the vendor's driver; mlnx_qos prints the table of community.mellanox.com/docs/DOC-2792 with the
/// settings it was given. Its messages are those of its source (Mellanox/mlnx-tools).
class Adapter : public FakeHost {
 public:
  Adapter() {
    files["/sys/class/net/ens1/mtu"] = "9000\n";
    for (int i = 0; i < 8; ++i)
      for (const char* end : {"roce_np", "roce_rp"})
        files["/sys/class/net/ens1/ecn/" + std::string(end) + "/enable/" + std::to_string(i)] = "0\n";
    files["/sys/class/infiniband/mlx5_0/tc/1/traffic_class"] = "";
    files["/sys/kernel/config/rdma_cm/"] = "";
    changing = [](const auto& a) { return a[0] == "mkdir" || a.size() > 3; };
    on_run = [this](const auto& a) { return answer(a); };
    on_write = [this](const std::string& path, const std::string& value) {
      if (path.find("traffic_class") != std::string::npos) files[path] = "Global tclass=" + value + "\n";
    };
  }

  std::string trust = "pcp", pfc = "0,0,0,0,0,0,0,0", complaint;
  std::map<int, int> mapped;

 private:
  std::string table() const {
    std::string out = "DCBX mode: OS controlled\nPriority trust state: " + trust + "\n";
    if (trust == "dscp") {
      out += "dscp2prio mapping:\n";
      for (int dscp = 0; dscp < 64; ++dscp)
        out += "\tprio:" + std::to_string(mapped.count(dscp) ? mapped.at(dscp) : dscp / 8) +
               " dscp:" + std::to_string(dscp) + ",\n";
    }
    out += "Cable len: 10\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     ";
    for (const char c : pfc) out += c == ',' ? std::string("   ") : std::string(1, c);
    return out + "   \n\ntc: 0 ratelimit: unlimited, tsa: vendor\n\t priority:  1\n";
  }

  std::optional<CommandResult> answer(const std::vector<std::string>& a) {
    if (a[0] == "mkdir") {
      files[a[2] + "/ports/1/default_roce_tos"] = "0\n";
      files[a[2] + "/ports/1/default_roce_mode"] = "IB/RoCE v1\n";
      return CommandResult{0, "", ""};
    }
    if (a[0] != "mlnx_qos") return std::nullopt;
    if (!complaint.empty() && (a.size() > 3 || complaint[0] == '!')) return CommandResult{1, "", complaint + "\n"};
    if (a.size() > 4 && a[3] == "--trust") trust = a[4];
    if (a.size() > 4 && a[3] == "--pfc") pfc = a[4];
    if (a.size() > 4 && a[3] == "--dscp2prio") mapped[std::stoi(a[4].substr(4))] = a[4].back() - '0';
    return CommandResult{0, a.size() > 3 ? "" : table(), ""};
  }
};

TEST(RoceStep, ThePlanIsWhatAPersonWouldType) {
  Adapter host;
  const StepPlan plan = plan_of(roce_step, desired(), host);
  EXPECT_THAT(commands(plan),
              ElementsAre("mlnx_qos -i ens1 --trust dscp", "mlnx_qos -i ens1 --pfc 0,0,0,1,0,0,0,0",
                          "echo 1 > /sys/class/net/ens1/ecn/roce_np/enable/3",
                          "echo 1 > /sys/class/net/ens1/ecn/roce_rp/enable/3",
                          "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class",
                          "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0",
                          "echo 106 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos",
                          "echo 'RoCE v2' > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode",
                          "# ens1: RoCE settings, persistence not managed"));
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(RoceStep, ApplyingTwiceChangesNothingTheSecondTime) {
  Adapter host;
  ASSERT_TRUE(apply_of(roce_step, desired(), host));
  const StepPlan again = plan_of(roce_step, desired(), host);
  EXPECT_THAT(commands(again), IsEmpty());
  EXPECT_THAT(again.findings, IsEmpty());
}

TEST(RoceStep, ItFinishesFromAnyInterruption) {
  testing::expect_converges_from_any_interruption(roce_step, desired(), [] { return std::make_unique<Adapter>(); });
}

TEST(RoceStep, ARailThatDeclaresNothingIsNotLookedAt) {
  Adapter host;
  Desired wanted = desired();
  wanted.rails[0].roce = {};
  EXPECT_THAT(commands(plan_of(roce_step, wanted, host)), IsEmpty());
  EXPECT_THAT(host.accesses, IsEmpty());
}

TEST(RoceStep, MarkedTrafficOfALossyPriorityIsMappedToTheLosslessOne) {
  Adapter host;
  host.trust = "dscp";
  host.mapped[26] = 0;
  EXPECT_THAT(commands(plan_of(roce_step, desired(), host)),
              ::testing::Contains("mlnx_qos -i ens1 --dscp2prio set,26,3"));
  ASSERT_TRUE(apply_of(roce_step, desired(), host));
  EXPECT_EQ(host.mapped[26], 3);
  Desired several = desired();
  several.rails[0].roce.pfc = std::vector<int>{2, 4};
  const auto findings = plan_of(roce_step, several, host).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].found, HasSubstr("priority 3; several priorities are lossless"));
}

TEST(RoceStep, WithoutToolsAndFilesItIsBlockedWithTheReason) {
  Adapter host;
  host.on_run = {};
  for (auto entry = host.files.begin(); entry != host.files.end();)
    entry = entry->first.find("/ecn/") != std::string::npos || entry->first.find("/tc/") != std::string::npos ||
                    entry->first.find("/config/") != std::string::npos
                ? host.files.erase(entry)
                : std::next(entry);
  const StepPlan plan = plan_of(roce_step, desired(), host);
  EXPECT_THAT(commands(plan), IsEmpty());
  std::string all;
  for (const Finding& finding : plan.findings) {
    EXPECT_EQ(finding.cause, "roce.setting_unavailable");
    EXPECT_EQ(finding.verdict, Verdict::blocked);
    EXPECT_EQ(finding.subject.netdev, "ens1");
    all += finding.found + "\n";
  }
  EXPECT_EQ(plan.findings.size(), 5u);
  for (const char* reason :
       {"mlnx_qos is not installed", "has no /sys/class/net/ens1/ecn", "let programs set it", "mount configfs"})
    EXPECT_THAT(all, HasSubstr(reason));
}

TEST(RoceStep, WhatTheToolSaysWhenItFailsIsQuoted) {
  Adapter silent, refusing;
  silent.complaint = "!Netlink error: Bad value. see dmesg.";
  EXPECT_THAT(plan_of(roce_step, desired(), silent).findings.at(0).found, HasSubstr("Netlink error: Bad value"));
  refusing.complaint = "Priority trust mode is not supported on your system";
  std::vector<Finding> findings;
  EXPECT_FALSE(apply_of(roce_step, desired(), refusing, &findings));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, "roce.setting_differs");
  EXPECT_THAT(findings[0].found, HasSubstr("Priority trust mode is not supported"));
  EXPECT_EQ(refusing.files.at("/sys/class/net/ens1/ecn/roce_np/enable/3"), "1") << "the other settings are made";
}

TEST(RoceStep, WhatCannotBeReadIsNotTakenForNone) {
  Adapter host;
  host.complaint = "!Netlink error: Bad value. see dmesg.";
  host.files.erase("/sys/class/net/ens1/ecn/roce_np/enable/0");
  Desired wanted = desired();
  wanted.rails[0].roce = {.pfc = std::vector<int>{}, .ecn = std::vector<int>{}};
  EXPECT_EQ(plan_of(roce_step, wanted, host).findings.size(), 2u);
}

TEST(RoceStep, EcnOfOneEndAloneIsFinishedOrTakenAway) {
  Adapter host;
  host.files["/sys/class/net/ens1/ecn/roce_np/enable/3"] = "1\n";
  host.files["/sys/class/net/ens1/ecn/roce_rp/enable/5"] = "1\n";
  Desired wanted = desired();
  wanted.rails[0].roce = {.ecn = std::vector<int>{3}};
  EXPECT_THAT(commands(plan_of(roce_step, wanted, host)),
              ElementsAre("echo 1 > /sys/class/net/ens1/ecn/roce_rp/enable/3",
                          "echo 0 > /sys/class/net/ens1/ecn/roce_rp/enable/5", ::testing::_));
}

TEST(RoceStep, WhatIsLeftToSomebodyElseOrCarriesTheSessionIsOnlyCompared) {
  Adapter host;
  Desired wanted = desired();
  wanted.manage.network = false;
  for (const char* cause : {"roce.setting_differs", "stage.own_interface"}) {
    const StepPlan plan = plan_of(roce_step, wanted, host);
    EXPECT_THAT(commands(plan), IsEmpty());
    ASSERT_FALSE(plan.findings.empty());
    EXPECT_EQ(plan.findings[0].cause, cause);
    EXPECT_TRUE(apply_of(roce_step, wanted, host));
    EXPECT_EQ(host.trust, "pcp");
    wanted.manage.network = true;
    wanted.management_address = "10.0.0.1";
    host.interface_addresses = {{"ens1", "10.0.0.1", 24}};
  }
}

TEST(RoceStep, TheGidOfTheRailsAddressIsChosenByTypeAndAddress) {
  Adapter host;
  host.interface_addresses = {{"ens1", "172.16.0.1", 16}};
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  host.files[port + "state"] = "4: ACTIVE\n";
  host.files[port + "link_layer"] = "Ethernet\n";
  const auto entry = [&](int index, const char* type) {
    const std::string name = std::to_string(index);
    host.files[port + "gids/" + name] = "0000:0000:0000:0000:0000:ffff:ac10:0001\n";
    host.files[port + "gid_attrs/types/" + name] = std::string(type) + "\n";
    host.files[port + "gid_attrs/ndevs/" + name] = "ens1\n";
  };
  entry(0, "IB/RoCE v1");
  const StepPlan plan = plan_of(roce_step, desired(), host);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].cause, "gid.roce_v1");
  entry(1, "RoCE v2");
  EXPECT_THAT(plan_of(roce_step, desired(), host).findings, IsEmpty());
  host.interface_addresses.clear();
  EXPECT_THAT(plan_of(roce_step, desired(), host).findings, IsEmpty()) << "the address is still to be set";
}

}  // namespace
}  // namespace fabricgate::bootstrap
