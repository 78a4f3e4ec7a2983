#include "inventory/show.hpp"

#include <gmock/gmock.h>

#include "results/file.hpp"

namespace fabricgate {
namespace {

using ::testing::HasSubstr;

Inventory base() {
  return *parse_inventory(*read_file(TESTDATA "/base.yaml"), "base").inventory;
}

TEST(Show, folds_nodes_and_gives_overridden_ones_their_own_class_lines) {
  const std::string text = show_inventory(base());
  EXPECT_THAT(text, HasSubstr("cluster atlas: 5 nodes, management 10.20.0.0/24, suite default\n"));
  EXPECT_THAT(text, HasSubstr("class gpu: 4 nodes n[1-4]\n"));
  EXPECT_THAT(text, HasSubstr("class gpu: 1 node n5\n"));
  EXPECT_THAT(text, HasSubstr("eth3"));
  EXPECT_THAT(text, HasSubstr("10.20.0.1 … 10.20.0.4"));
  EXPECT_THAT(text, HasSubstr("rail0 172.16.0.5 rail1 172.17.0.5"));
}

TEST(Show, names_stand_in_rank_order_beside_the_addresses_of_the_first_and_last) {
  std::string text = *read_file(TESTDATA "/base.yaml");
  const auto at = text.find("nodes:");
  text = text.substr(0, at) + "nodes:\n  - { hosts: n2, class: gpu, address: 10.20.0.7 }\n  - { hosts: n1, class: gpu, address: 10.20.0.8 }\n";
  const auto loaded = parse_inventory(text, "t");
  ASSERT_TRUE(loaded.inventory);
  EXPECT_THAT(show_inventory(*loaded.inventory), testing::ContainsRegex("n2,n1 .*10.20.0.7 … 10.20.0.8"));
}

TEST(Show, lists_the_rail_addresses_of_one_node) {
  EXPECT_EQ(show_node(base(), 1),
            "n2: class gpu, rank 1, address 10.20.0.2, rack r1\n"
            "  rail0      eth1            mlx5_0   172.16.0.2/24 mtu 9000\n"
            "  rail1      eth2            mlx5_1   172.17.0.2/24 mtu 1500\n");
}

}  // namespace
}  // namespace fabricgate
