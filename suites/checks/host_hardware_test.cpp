#include "suites/checks/host_hardware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/gate/good_run.hpp"
#include "suites/check.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PciDevice device(const std::string& address, const std::string& link, const std::string& width, std::vector<std::string> above = {}) {
  PciDevice out{.address = address, .vendor = "0x15b3", .device_class = above.empty() ? "0x060400" : "0x020700", .driver = "mlx5_core",
                .link_speed = link + ".0 GT/s PCIe", .link_width = width, .max_link_speed = "32.0 GT/s PCIe", .max_link_width = "16",
                .path_speed = "16.0 GT/s PCIe", .path_width = "8"};
  out.above = std::move(above);
  return out;
}

/// Root port, switch and adapter; the path allows 16 GT/s x8.
Facts machine() {
  Facts facts;
  facts.pci = {device("0000:17:01.0", "16", "8"), device("0000:18:00.0", "16", "8"), device("0000:19:00.0", "32", "16"),
               device("0000:1a:00.0", "32", "16", {"0000:17:01.0", "0000:18:00.0", "0000:19:00.0"})};
  facts.netdevs = {{.name = "ens1", .pci = "0000:1a:00.0"}};
  facts.rdma_ports = {{.device = "mlx5_0", .netdev = "ens1", .pci = "0000:1a:00.0"}};
  return facts;
}

std::vector<std::string> told(const Facts& facts, const std::string& pci = "") {
  Desired want;
  want.node = "gpu1";
  want.rails = {{.name = "rail0", .netdev = "ens1", .device = "mlx5_0", .pci = pci}};
  std::vector<Finding> findings;
  judge_hardware(want, facts, findings);
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.cause + " " + finding.subject.pci + " " + finding.found);
  return out;
}

TEST(HostHardware, ALinkIsHeldAgainstTheSmallestOfItsPathAndNotAgainstTheAdaptersMaximum) {
  Facts facts = machine();
  EXPECT_THAT(told(facts), IsEmpty());
  facts.pci[3].link_speed = facts.pci[2].link_speed = "16.0 GT/s PCIe";
  facts.pci[3].link_width = facts.pci[2].link_width = "8";
  EXPECT_THAT(told(facts), IsEmpty()) << "the path carries no more";
  facts.pci[3].link_width = facts.pci[2].link_width = "4";
  for (const char* pci : {"", "0000:1a:00.0"})
    EXPECT_THAT(told(facts, pci), ElementsAre("pcie.link_degraded 0000:1a:00.0 16.0 GT/s PCIe x4"));
}

TEST(HostHardware, ASlowLinkAboveTheSwitchIsNamedOnceAtItsLowerEnd) {
  Facts facts = machine();
  facts.pci[0].link_width = facts.pci[1].link_width = "2";
  EXPECT_THAT(told(facts), ElementsAre("pcie.link_degraded 0000:18:00.0 16.0 GT/s PCIe x2"));
}

TEST(HostHardware, ARailOnAVirtualFunctionIsJudgedByThePhysicalOne) {
  Facts facts = machine();
  facts.pci.push_back({.address = "0000:1a:00.1", .vendor = "0x15b3", .device_class = "0x020700", .link_speed = "Unknown", .link_width = "0", .physical_function = "0000:1a:00.0"});
  facts.netdevs[0].pci = "0000:1a:00.1";
  facts.pci[3].link_width = "1";
  EXPECT_THAT(told(facts), ElementsAre("pcie.link_degraded 0000:1a:00.0 32.0 GT/s PCIe x1"));
}

TEST(HostHardware, SisterAdaptersWithoutDriverOrRdmaDeviceAreWarnedOf) {
  Facts facts = machine();
  facts.pci.push_back(device("0000:3a:00.0", "16", "8", {"0000:39:00.0"}));
  EXPECT_THAT(told(facts), ElementsAre("rdma.function_unused 0000:3a:00.0 driver mlx5_core, no RDMA device"));
  facts.pci.back().driver = "";
  EXPECT_THAT(told(facts), ElementsAre("rdma.function_unused 0000:3a:00.0 no driver"));
  facts.pci.back().vendor = "0x8086";
  EXPECT_THAT(told(facts), IsEmpty()) << "another vendor's adapter is nobody's rail";
  facts = machine();
  facts.pci.push_back(device("0000:1a:00.1", "32", "16", {"0000:17:01.0", "0000:18:00.0", "0000:19:00.0"}));
  EXPECT_THAT(told(facts), IsEmpty()) << "two functions of one adapter may share a bonded device";
}

TEST(HostFleet, ANodeGuidThatTwoFunctionsShareIsNamedOnBoth) {
  GoodRun run = good_run({.nodes = 2, .rdma = true});
  std::vector<const Record*> facts;
  for (Record& record : run.records) {
    if (record.check != "host.facts") continue;
    record.sample["rdma_ports"][0]["node_guid"] = "0200:5e00:5300:0077";
    record.sample["rdma_ports"][1]["node_guid"] = "0000:0000:0000:0000";
    facts.push_back(&record);
  }
  const Record record = judged({run.inventory, run.limits}, {.check = "host.fleet", .hosts = {"n0001", "n0002"}, .sample = fleet_sample(facts)});
  ASSERT_EQ(record.findings.size(), 2u) << "zeros are no GUID two could share";
  EXPECT_EQ(record.findings[0].cause, "vf.guid_duplicate");
  EXPECT_EQ(record.findings[0].subject.device, "mlx5_0");
  EXPECT_EQ(record.findings[0].subject.peer, "n0002");
}

}  // namespace
}  // namespace fabricgate::suites
