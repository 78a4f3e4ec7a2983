#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/link/rdma_sample.hpp"
#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Inventory& inventory() {
  static const Inventory loaded = *parse_inventory("schema: 1\ncluster: { name: t, management_cidr: 10.0.0.0/24 }\nclasses:\n  box:\n    rails:\n"
                                                   "      - { netdev: ens1, rate_gbps: 400, cidr: 172.16.0.0/16, leaf: leaf-a }\n"
                                                   "      - { netdev: ens2, rate_gbps: 400, cidr: 172.17.0.0/16, leaf: leaf-b }\n"
                                                   "nodes:\n  - { hosts: gpu1, class: box, address: 10.0.0.1 }\n", "case.yaml").inventory;
  return loaded;
}

Record judge(const std::vector<LldpNeighbour>& neighbours, const std::string& unreadable = "") {
  const fabric::CablingSample sample{.host = "gpu1", .rail = "rail0", .netdev = "ens1", .unreadable = unreadable, .neighbours = neighbours};
  return judged({inventory(), {}}, {.check = "link.cabling", .hosts = {"gpu1"}, .rail = "rail0", .sample = to_json_value(sample)});
}

TEST(LinkCabling, TheDeclaredLeafPassesHoweverTheSwitchWritesItsName) {
  for (const char* name : {"leaf-a", "LEAF-A", "leaf-a.fabric.example"})
    EXPECT_EQ(judge({{"ens1", name, "02:00:5e:00:53:a0", "Ethernet1"}}).verdict, Verdict::pass) << name;
  EXPECT_EQ(judge({{"ens1", "nic-agent", "", ""}, {"ens1", "leaf-a", "", ""}}).verdict, Verdict::pass);
}

TEST(LinkCabling, AnotherSwitchFailsAndTheRailThatBelongsThereIsNamed) {
  const Record crossed = judge({{"ens1", "leaf-b", "02:00:5e:00:53:b0", "Ethernet7"}});
  EXPECT_EQ(crossed.verdict, Verdict::fail);
  ASSERT_EQ(crossed.findings.size(), 1u);
  EXPECT_EQ(crossed.findings[0].cause, "link.cabling");
  EXPECT_EQ(crossed.findings[0].found, "leaf-b port Ethernet7, the leaf of rail1");
  EXPECT_EQ(judge({{"ens1", "leaf-ab", "", ""}}).verdict, Verdict::fail);
}

TEST(LinkCabling, WhereNoSwitchSaysItsNameThereIsASkipWithItsReason) {
  const Record without_tool = judge({}, "the switch cannot be asked: lldpctl: not found");
  EXPECT_EQ(without_tool.verdict, Verdict::skip);
  EXPECT_THAT(without_tool.reason, HasSubstr("lldpctl"));
  EXPECT_EQ(judge({}).verdict, Verdict::skip);
  EXPECT_EQ(judge({{"ens1", "", "02:00:5e:00:53:b0", ""}}).verdict, Verdict::skip) << "an id alone is no name";
}

TEST(LinkCabling, ANeighbourOfAnotherInterfaceIsNoEvidence) {
  EXPECT_EQ(judge({{"ens2", "leaf-a", "", ""}}).verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace fabricgate::suites
