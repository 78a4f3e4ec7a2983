#include "inventory/inventory.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(inventory.nodes[65].spec->rails[0].netdev, "ens2f0np0");
  EXPECT_EQ(inventory.nodes[65].spec->rails[0].device, "mlx5_0");
  EXPECT_FALSE(inventory.nodes[65].required);
  EXPECT_EQ(format_ipv4(desired(inventory, 65).rails[0].address), "172.16.0.99");
  EXPECT_EQ(inventory.hooks.at("busy"), "/usr/local/bin/node-busy {node}");
  EXPECT_EQ(inventory.find("gpu071"), 65u);
  EXPECT_EQ(inventory.find("gpu065"), std::nullopt);
  EXPECT_EQ(inventory.checksum, sha256_hex(*text));
}

}  // namespace
}  // namespace fabricgate
