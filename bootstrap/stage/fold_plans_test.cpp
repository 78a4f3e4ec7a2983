#include "bootstrap/stage/fold_plans.hpp"

#include <gtest/gtest.h>

namespace fabricgate::bootstrap {
namespace {

constexpr std::uint32_t first_rail = 172U << 24 | 16U << 16, second_rail = 172U << 24 | 17U << 16;

NodePlan bare(const std::string& name, std::uint32_t number) {
  const std::string address = "172.16." + std::to_string(number >> 8) + "." + std::to_string(number & 255);
  const std::string other = "172.17." + std::to_string(number >> 8) + "." + std::to_string(number & 255);
  return {name,
          "planned",
          {"ip addr replace " + address + "/16 dev a0",
           "install -D /dev/stdin /etc/x <<'EOF'\naddress " + other + "/16\nEOF",
           "sysctl -w net.ipv4.conf.a0.arp_ignore=1"},
          {{"rail0", first_rail + number}, {"rail1", second_rail + number}}};
}

TEST(FoldPlans, SixtyFourEqualBareNodesAreOneBlockAndOneRow) {
  std::vector<NodePlan> nodes;
  for (std::uint32_t i = 1; i <= 64; ++i)
    nodes.push_back(bare("gpu" + std::string(i < 10 ? "00" : "0") + std::to_string(i), i));
  EXPECT_EQ(fold_plans(nodes),
            "gpu[001-064]: planned\n"
            "    ip addr replace {rail0}/16 dev a0\n"
            "    install -D /dev/stdin /etc/x <<'EOF'\naddress {rail1}/16\nEOF\n"
            "    sysctl -w net.ipv4.conf.a0.arp_ignore=1\n"
            "    each node with its own address:\n"
            "        gpu[001-064]  {rail0} 172.16.0.1 to 172.16.0.64  {rail1} 172.17.0.1 to 172.17.0.64\n");
}

TEST(FoldPlans, NodesThatDifferInTheMacsAndGuidsOfTheirVfsAloneAreOneBlock) {
  std::vector<NodePlan> nodes;
  for (const std::uint64_t i : {4u, 5u, 6u}) {
    const std::string number = std::to_string(i);
    nodes.push_back({"n" + number,
                     "planned",
                     {"ip link set dev e1 vf 0 mac 02:ab:00:0" + number + ":00:00", "echo 02:ab:cd:ef:00:0" + number + ":00:00 > x"},
                     {{"vf-guid", 0x02abcdef0000u + i, 6}, {"vf-mac", 0x02ab0000u + i, 4}}});
  }
  EXPECT_EQ(fold_plans(nodes),
            "n[4-6]: planned\n    ip link set dev e1 vf 0 mac {vf-mac}:00:00\n    echo {vf-guid}:00:00 > x\n"
            "    each node with its own address:\n"
            "        n[4-6]  {vf-guid} 02:ab:cd:ef:00:04 to 02:ab:cd:ef:00:06  {vf-mac} 02:ab:00:04 to 02:ab:00:06\n");
}

TEST(FoldPlans, OneNodeIsPrintedAsItIsTyped) {
  EXPECT_EQ(fold_plans({bare("n1", 7)}),
            "n1: planned\n    ip addr replace 172.16.0.7/16 dev a0\n    install -D /dev/stdin /etc/x <<'EOF'\naddress "
            "172.17.0.7/16\nEOF\n    sysctl -w net.ipv4.conf.a0.arp_ignore=1\n");
}

TEST(FoldPlans, AddressesThatDoNotCountWithTheNodesHaveRowsOfTheirOwn) {
  std::vector<NodePlan> nodes{bare("n1", 1), bare("n2", 2), bare("n3", 9), bare("n5", 10), bare("n4", 11)};
  const std::string text = fold_plans(nodes);
  EXPECT_EQ(text.substr(text.find("    each node")),
            "    each node with its own address:\n"
            "        n[1-2]  {rail0} 172.16.0.1 to 172.16.0.2  {rail1} 172.17.0.1 to 172.17.0.2\n"
            "        n[3,5]  {rail0} 172.16.0.9 to 172.16.0.10  {rail1} 172.17.0.9 to 172.17.0.10\n"
            "        n4  {rail0} 172.16.0.11  {rail1} 172.17.0.11\n");
}

TEST(FoldPlans, ANodeWithAnotherCommandOrStateStaysApart) {
  std::vector<NodePlan> nodes{bare("n1", 1), bare("n2", 2), bare("n3", 3)};
  nodes[1].commands[2] = "sysctl -w net.ipv4.conf.a0.arp_ignore=2";
  nodes[2].head = "unreachable";
  const std::string text = fold_plans(nodes);
  for (const char* name : {"n1: planned\n", "n2: planned\n", "n3: unreachable\n"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
  EXPECT_EQ(text.find('{'), std::string::npos) << text;
}

TEST(FoldPlans, ANumberThatOnlyBeginsOrEndsLikeAnAddressIsLeftAlone) {
  std::vector<NodePlan> nodes;
  for (std::uint32_t i = 1; i <= 2; ++i)
    nodes.push_back({"n" + std::to_string(i),
                     "planned",
                     {"ping 172.16.0." + std::to_string(i) + " 172.16.0.15 1172.16.0.1 172.16.0.2.1"},
                     {{"rail0", first_rail + i}}});
  const std::string text = fold_plans(nodes);
  EXPECT_NE(text.find("ping {rail0} 172.16.0.15 1172.16.0.1 172.16.0.2.1\n"), std::string::npos) << text;
}

TEST(FoldPlans, CommandsThatAreTheSameNeedNoTable) {
  std::vector<NodePlan> nodes{bare("n1", 1), bare("n2", 2)};
  for (NodePlan& node : nodes) node.commands = {"sysctl -w a=1"};
  EXPECT_EQ(fold_plans(nodes), "n[1-2]: planned\n    sysctl -w a=1\n");
}

}  // namespace
}  // namespace fabricgate::bootstrap
