/// Declared values of hardware against facts, for rails without an RDMA device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/observe/facts.hpp"
#include "suites/check.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "cause verdict found" of the findings about one node whose only rail is declared with `rail`, and its class with `driver`.
std::vector<std::string> told(const std::string& rail, const std::string& driver, const std::function<void(Facts&)>& edit) {
  const std::string text =
      "schema: 1\ncluster:\n  name: test\n  management_cidr: 10.20.0.0/16\nclasses:\n  box:\n    rails:\n"
      "      - { netdev: ens1, rate_gbps: 100, mtu: 9000, cidr: 172.16.0.0/16" + rail + " }\n    driver: { owner: none" + driver + " }\n" +
      "nodes:\n  - { hosts: n1, class: box, address: 10.20.0.1 }\n";
  auto loaded = parse_inventory(text, "declared.yaml");
  if (!loaded.inventory) return {to_string(loaded.problems.at(0))};
  Facts facts = facts_from_json(good_facts(*loaded.inventory, 0)).value();
  for (Netdev& netdev : facts.netdevs)
    if (netdev.name == "ens1") netdev.pci = "0000:18:00.0";
  facts.pci = {{.address = "0000:18:00.0", .vfs_total = 16, .vfs = 8}};
  edit(facts);
  const Limits limits = parse_limits(default_limits_text(), "default.yaml", "default").value();
  Record record{.check = "host.facts", .hosts = {"n1"}};
  record.sample = to_json_value(facts);
  record.sample["clock_offset_s"] = 0.0;
  record.started_unix_s = 1.75e9;
  std::vector<std::string> out;
  for (const Finding& finding : judged({*loaded.inventory, limits}, record).findings)
    out.push_back(finding.cause + " " + to_string(finding.verdict) + ": " + finding.found);
  return out;
}

void nothing(Facts&) {}

void lose_address(Facts& facts) {
  for (Netdev& netdev : facts.netdevs) netdev.pci.clear();
}

TEST(HostDeclared, TheNumberOfVirtualFunctionsIsComparedWithoutAnRdmaDevice) {
  EXPECT_THAT(told(", vfs: 8", "", nothing), IsEmpty());
  EXPECT_THAT(told(", vfs: 4", "", nothing), ElementsAre("vf.count_mismatch fail: 8"));
  EXPECT_THAT(told(", vfs: 8", "", lose_address), ElementsAre("vf.count_mismatch inconclusive: no PCI function of ens1 is told"));
}

TEST(HostDeclared, APciAddressThatIsNotTheInterfacesOrNotToldIsNoPass) {
  EXPECT_THAT(told(", pci: \"0000:18:00.0\"", "", nothing), IsEmpty());
  EXPECT_THAT(told(", pci: \"0000:19:00.0\"", "", nothing), ElementsAre("link.absent fail: ens1 at 0000:18:00.0"));
  EXPECT_THAT(told(", pci: \"0000:18:00.0\"", "", lose_address), ElementsAre("link.absent inconclusive: its PCI address is not told"));
}

TEST(HostDeclared, TheRunningDriverIsHeldAgainstTheDeclaredVersion) {
  const auto running = [](const std::string& version) { return [version](Facts& facts) { facts.versions["mlx5_core"] = version; }; };
  const std::string ofed = ", source: mlnx-ofed, version: \"24.10-1.1.4.0\"";
  EXPECT_THAT(told("", ofed, running("24.10-1.1.4")), IsEmpty());
  EXPECT_THAT(told("", ofed, running("24.10-1.1.4.0")), IsEmpty());
  for (const char* other : {"24.07-0.6.1", "24.10-1.1.40"})
    EXPECT_THAT(told("", ofed, running(other)), ElementsAre("driver.version_mismatch fail: mlx5_core " + std::string(other)));
  EXPECT_THAT(told("", ofed, nothing), ElementsAre("driver.version_mismatch inconclusive: mlx5_core tells no version"));
  EXPECT_THAT(told("", ", source: doca-host, version: \"3.0.0\"", running("25.04-0.6.1")),
              ElementsAre("driver.version_mismatch inconclusive: mlx5_core 25.04-0.6.1"));
}

}  // namespace
}  // namespace fabricgate::suites
