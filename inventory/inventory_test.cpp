#include "inventory/inventory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "inventory/desired/desired.hpp"
#include "results/file.hpp"

namespace fabricgate {
namespace {

std::string all(const LoadedInventory& loaded) {
  std::string out;
  for (const auto& problem : loaded.problems) out += to_string(problem) + '\n';
  return out;
}

TEST(Inventory, loads_the_commented_example_whole) {
  const auto text = read_file(TESTDATA "/../example.yaml");
  ASSERT_TRUE(text);
  const auto loaded = parse_inventory(*text, "example.yaml");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  const Inventory& inventory = *loaded.inventory;
  EXPECT_EQ(inventory.cluster, "atlas");
  ASSERT_EQ(inventory.nodes.size(), 66u);
  EXPECT_EQ(inventory.nodes[64].name, "gpu070");
  EXPECT_EQ(inventory.nodes[64].address, "10.20.0.65");
  EXPECT_EQ(inventory.nodes[0].spec, inventory.nodes[64].spec);
  EXPECT_EQ(inventory.nodes[0].spec->slots, 8);
  EXPECT_EQ(inventory.nodes[0].spec->memlock_bytes, UINT64_MAX);
  EXPECT_EQ(inventory.nodes[65].spec->rails[0].netdev, "ens3f0np0");
  EXPECT_EQ(inventory.nodes[65].spec->rails[0].device, "mlx5_0");
  EXPECT_FALSE(inventory.nodes[65].required);
  const VfSpec& vf = inventory.nodes[0].spec->rails[1].vf;
  EXPECT_EQ(vf.trust, true);
  EXPECT_EQ(vf.spoofchk, false);
  EXPECT_EQ(vf.vlan, 100);
  EXPECT_EQ(vf.max_rate_mbps, 50000);
  EXPECT_EQ(vf.mtu, 9000);
  EXPECT_EQ(vf.link_policy, LinkPolicy::follow);
  EXPECT_TRUE(vf.bind);
  EXPECT_EQ(inventory.nodes[0].spec->rails[0].vf.trust, std::nullopt);
  EXPECT_EQ(inventory.nodes[0].spec->eswitch, "legacy");
  EXPECT_EQ(inventory.nodes[0].spec->kernel_cmdline, true);
  EXPECT_EQ(inventory.nodes[0].spec->rdma_namespace, "shared");
  EXPECT_EQ(format_ipv4(desired(inventory, 65).rails[0].address), "172.16.0.99");
  EXPECT_EQ(inventory.hooks.at("busy"), "/usr/local/bin/node-busy {node}");
  EXPECT_EQ(inventory.find("gpu071"), 65u);
  EXPECT_EQ(inventory.find("gpu065"), std::nullopt);
  EXPECT_EQ(inventory.checksum, sha256_hex(*text));
}

std::string base() {
  return *read_file(TESTDATA "/base.yaml");
}

std::string edited(const std::string& from, const std::string& to) {
  std::string text = base();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Inventory, counts_management_addresses_up_and_falls_back_to_the_name) {
  const auto loaded = parse_inventory(edited("address: 10.20.0.1", "address: 10.20.0.250"), "f");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  EXPECT_EQ(loaded.inventory->nodes[3].address, "10.20.0.253");
  EXPECT_EQ(loaded.inventory->nodes[4].address, "n5");
  EXPECT_EQ(loaded.inventory->nodes[4].line, 36);
}

TEST(Inventory, takes_slots_from_gpus_when_none_are_given) {
  const auto loaded = parse_inventory(edited("    slots: 4\n", ""), "f");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  EXPECT_EQ(loaded.inventory->nodes[0].spec->slots, 4);
}

TEST(Inventory, applies_overrides_to_one_node_alone) {
  const auto loaded = parse_inventory(base(), "f");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  const auto& nodes = loaded.inventory->nodes;
  EXPECT_EQ(nodes[3].spec->rails[0].netdev, "eth1");
  EXPECT_EQ(nodes[4].spec->rails[0].netdev, "eth3");
  EXPECT_EQ(nodes[4].spec->rails[0].device, "mlx5_0");
  EXPECT_EQ(nodes[4].spec->rails[0].mtu, 9000);
  EXPECT_EQ(nodes[4].spec->rails[1].name, "rail1");
}

TEST(Inventory, expands_the_home_folder_and_only_that) {
  setenv("HOME", "/home/ops", 1);
  const auto loaded = parse_inventory(edited("key: /k/id", "key: ~/.ssh/id"), "f");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  EXPECT_EQ(loaded.inventory->ssh.key, "/home/ops/.ssh/id");
  EXPECT_EQ(loaded.inventory->ssh.known_hosts, "/k/known");
}

TEST(Inventory, says_so_when_there_is_no_home_folder) {
  unsetenv("HOME");
  const auto loaded = parse_inventory(edited("key: /k/id", "key: ~/.ssh/id"), "f");
  setenv("HOME", "/home/ops", 1);
  ASSERT_EQ(loaded.problems.size(), 1u);
  EXPECT_NE(loaded.problems[0].what.find("$HOME"), std::string::npos);
}

TEST(Inventory, takes_relative_paths_from_beside_its_own_file) {
  const std::string path = ::testing::TempDir() + "relative_paths.yaml";
  ASSERT_TRUE(write_file_atomic(path, edited("key: /k/id", "key: keys/id")));
  const auto loaded = load_inventory(path);
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(loaded->ssh.key, ::testing::TempDir() + "keys/id");
  EXPECT_EQ(loaded->ssh.known_hosts, "/k/known");
}

TEST(Inventory, names_the_file_and_every_problem_when_it_cannot_be_loaded) {
  const std::string path = ::testing::TempDir() + "two_problems.yaml";
  ASSERT_TRUE(write_file_atomic(path, edited("port: 22\n  key", "port: x\n  kei")));
  const auto loaded = load_inventory(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::parse);
  EXPECT_EQ(loaded.error().what, path + ":7:9: port: expected an integer from 1 to 65535, found 'x'\n" + path +
                                     ":8:3: unknown key 'kei' in ssh, did you mean 'key'?");
  EXPECT_EQ(load_inventory("/nonexistent/x.yaml").error().kind, ErrorKind::unavailable);
}

TEST(Inventory, accepts_an_operator_as_owner_when_there_is_a_kubernetes_section) {
  const auto loaded = parse_inventory(
      edited("memlock: unlimited", "sriov: { owner: operator }") + "kubernetes: { ipam: whereabouts }\n", "f");
  ASSERT_TRUE(loaded.inventory) << all(loaded);
  EXPECT_EQ(loaded.inventory->nodes[0].spec->sriov_owner, Owner::operator_);
  EXPECT_EQ(loaded.inventory->kubernetes->ipam, "whereabouts");
  EXPECT_EQ(loaded.inventory->kubernetes->name_space, "nvidia-network-operator");
}

TEST(Inventory, knows_whether_any_node_is_emulated) {
  EXPECT_FALSE(parse_inventory(base(), "f").inventory->emulated());
  EXPECT_TRUE(parse_inventory(edited("memlock: unlimited", "emulated: true"), "f").inventory->emulated());
}

TEST(Inventory, bounds_nesting_size_and_number_of_nodes) {
  EXPECT_FALSE(parse_inventory(std::string(100000, '['), "f").inventory);
  EXPECT_FALSE(parse_inventory(std::string(100000, '{'), "f").inventory);
  std::string dashes;
  for (int i = 0; i < 50000; ++i) dashes += "- ";
  EXPECT_FALSE(parse_inventory(dashes, "f").inventory);
  EXPECT_FALSE(parse_inventory(std::string((16u << 20) + 1, ' '), "f").inventory);
  const auto many = parse_inventory(edited("hosts: n5", "hosts: m[1-65536]"), "f");
  ASSERT_EQ(many.problems.size(), 1u);
  EXPECT_EQ(many.problems[0].what, "nodes: more than 65536 nodes");
}

TEST(Inventory, shows_a_bounded_number_of_problems) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(parse_inventory(text, "f").problems.size(), 1001u);
}

TEST(Inventory, without_classes_is_enough_to_reach_nodes_where_a_class_is_still_to_be_learnt) {
  const std::string text =
      "schema: 1\ncluster: { name: a, management_cidr: 10.0.0.0/24 }\nnodes:\n  - { hosts: \"n[1-2]\", address: "
      "10.0.0.1 }\n"
      "  - { hosts: n9, class: later }\n";
  const auto problems = parse_inventory(text, "i").problems;
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const InventoryProblem& problem) {
    return problem.what == "unknown class 'later', the inventory has none yet: run `fabricgate inventory learn` first";
  }));
  const auto loaded = parse_inventory(text, "i", Classes::may_be_missing);
  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.front());
  EXPECT_EQ(loaded.inventory->nodes.size(), 3u);
  EXPECT_EQ(loaded.inventory->nodes[1].address, "10.0.0.2");
  EXPECT_TRUE(loaded.inventory->nodes[2].spec->rails.empty());
  const auto part = parse_inventory(
      text + "classes:\n  gpu:\n    rails:\n      - { netdev: e1, rate_gbps: 1, cidr: 172.16.0.0/24 }\n", "i",
      Classes::may_be_missing);
  ASSERT_EQ(part.problems.size(), 2u);  // with classes, nodes must name one of them
  EXPECT_EQ(part.problems[0].what, "node: key 'class' is missing");
  EXPECT_EQ(part.problems[1].what, "unknown class 'later'; known: gpu");
}

}  // namespace
}  // namespace fabricgate
