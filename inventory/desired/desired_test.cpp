#include "inventory/desired/desired.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fabricgate {
namespace {

Inventory two_nodes() {
  NodeClass spec{.name = "c", .gpus = 4, .slots = 4};
  spec.rails = {{.name = "rail0",
                 .netdev = "ens1.100",
                 .device = "mlx5_0",
                 .rate_bits_per_s = 4e11,
                 .mtu = 9000,
                 .cidr = *parse_cidr("172.16.0.0/16"),
                 .vfs = 8,
                 .vf = {.trust = true, .vlan = 7, .link_policy = LinkPolicy::up, .bind = false}},
                {.name = "rail1",
                 .netdev = "ens2",
                 .link_layer = LinkLayer::infiniband,
                 .rate_bits_per_s = 2e11,
                 .cidr = *parse_cidr("172.17.0.0/16")}};
  spec.rails[0].roce = {.trust = "dscp", .pfc = std::vector<int>{3}, .traffic_class = 106};
  spec.memlock_bytes = UINT64_MAX;
  spec.sysctl = {{"vm.swappiness", "1"}, {"net.ipv4.conf.ens2.arp_ignore", "2"}};
  spec.manage.network = false;
  spec.driver = {.owner = Owner::host, .source = "doca-host", .version = "3.0.0"};
  spec.driver.bundle = "/srv/doca.deb";
  spec.driver.sha256 = std::string(64, 'a');
  spec.driver.packages = {"doca-ofed"};
  spec.driver.flags = {"--add-kernel-support"};
  spec.driver.reload = Reload::safe;
  spec.sriov_owner = Owner::operator_;
  spec.eswitch = "switchdev";
  spec.kernel_cmdline = true;
  spec.rdma_namespace = "exclusive";
  NodeClass other = spec;
  other.rails[0].address = *parse_ipv4("172.16.9.9");
  Inventory inventory{.cluster = "x", .management = *parse_cidr("10.0.0.0/24")};
  inventory.nodes.push_back({.name = "n1", .spec = std::make_shared<const NodeClass>(spec), .address = "10.0.0.1"});
  inventory.nodes.push_back({.name = "n2", .spec = std::make_shared<const NodeClass>(other), .address = "10.0.0.2"});
  return inventory;
}

TEST(Desired, counts_rail_addresses_by_position_unless_one_is_given) {
  const Inventory inventory = two_nodes();
  EXPECT_EQ(format_ipv4(desired(inventory, 0).rails[0].address), "172.16.0.1");
  EXPECT_EQ(format_ipv4(desired(inventory, 1).rails[0].address), "172.16.9.9");
  EXPECT_EQ(format_ipv4(desired(inventory, 1).rails[1].address), "172.17.0.2");
  EXPECT_EQ(desired(inventory, 1).rails[1].prefix, 16);
}

TEST(Desired, gives_every_rail_its_arp_settings_with_slashes_for_dots_in_names) {
  const Desired one = desired(two_nodes(), 0);
  EXPECT_EQ(one.sysctl.at("net.ipv4.conf.ens1/100.arp_ignore"), "1");
  EXPECT_EQ(one.sysctl.at("net.ipv4.conf.ens1/100.arp_announce"), "2");
  EXPECT_EQ(one.sysctl.at("net.ipv4.conf.ens2.arp_announce"), "2");
}

TEST(Desired, keeps_a_sysctl_value_written_by_hand) {
  EXPECT_EQ(desired(two_nodes(), 0).sysctl.at("net.ipv4.conf.ens2.arp_ignore"), "2");
}

TEST(Desired, gives_every_vf_of_the_fleet_identities_that_no_other_has) {
  std::set<std::string> macs, guids;
  for (const char* cluster : {"atlas", "borealis"})
    for (const std::size_t node : {0u, 1u, 255u, 256u, 65535u})
      for (const std::size_t rail : {0u, 1u, 63u})
        for (const int vf : {0, 1, 255, 256, 1023}) {
          const DesiredRail place{.first_vf_guid = first_vf_guid(cluster, node, rail)};
          const VfIdentity one = vf_identity(place, vf);
          EXPECT_TRUE(macs.insert(one.mac).second) << one.mac;
          EXPECT_TRUE(guids.insert(one.guid).second) << one.guid;
          const auto first = std::stoul(one.mac.substr(0, 2), nullptr, 16);
          EXPECT_EQ(first & 3, 2u) << "one receiver, locally administered";
          EXPECT_EQ(one.guid.substr(0, 2), one.mac.substr(0, 2));
        }
}

TEST(Desired, counts_vf_identities_by_node_rail_and_vf) {
  const Inventory inventory = two_nodes();
  const Desired second = desired(inventory, 1);
  ASSERT_EQ(second.rails[0].vfs, 8);
  EXPECT_EQ(second.rails[0].first_vf_guid, first_vf_guid("x", 1, 0));
  EXPECT_EQ(vf_identity(second.rails[0], 3).mac.substr(5), ":00:01:00:03");
  EXPECT_EQ(vf_identity(second.rails[0], 3).guid.substr(11), ":00:01:00:03");
}

TEST(Desired, wants_the_kernel_command_line_where_the_host_makes_functions_on_real_adapters_or_the_class_says_so) {
  NodeClass spec{.rails = {{.name = "rail0", .netdev = "ens1", .vfs = 4}}, .sriov_owner = Owner::host};
  EXPECT_TRUE(wants_kernel_cmdline(spec));
  spec.emulated = true;
  EXPECT_FALSE(wants_kernel_cmdline(spec));
  spec.kernel_cmdline = true;
  EXPECT_TRUE(wants_kernel_cmdline(spec));
  spec = {.rails = {{.name = "rail0", .netdev = "ens1", .vfs = 4}}, .sriov_owner = Owner::operator_};
  EXPECT_FALSE(wants_kernel_cmdline(spec));
  spec.sriov_owner = Owner::host;
  spec.kernel_cmdline = false;
  EXPECT_FALSE(wants_kernel_cmdline(spec));
}

TEST(Desired, survives_json_both_ways) {
  const Desired one = desired(two_nodes(), 1);
  const auto json = to_json_value(one);
  const auto back = desired_from_json(nlohmann::json::parse(json.dump()));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(to_json_value(*back), json);
  EXPECT_EQ(back->memlock_bytes, UINT64_MAX);
  EXPECT_EQ(back->sriov_owner, Owner::operator_);
  EXPECT_FALSE(back->manage.network);
  EXPECT_EQ(back->eswitch, "switchdev");
  EXPECT_TRUE(back->kernel_cmdline);
  EXPECT_EQ(back->rdma_namespace, "exclusive");
  EXPECT_EQ(back->driver.bundle, "/srv/doca.deb");
  EXPECT_EQ(back->driver.packages, std::vector<std::string>{"doca-ofed"});
  EXPECT_EQ(back->driver.reload, Reload::safe);
  EXPECT_EQ(back->rails[0].roce, one.rails[0].roce);
  EXPECT_EQ(back->rails[0].vfs, 8);
  EXPECT_EQ(vf_identity(back->rails[0], 7), vf_identity(one.rails[0], 7));
  EXPECT_EQ(back->rails[0].vf.trust, true);
  EXPECT_EQ(back->rails[0].vf.spoofchk, std::nullopt);
  EXPECT_EQ(back->rails[0].vf.link_policy, LinkPolicy::up);
  EXPECT_FALSE(back->rails[0].vf.bind);
}

TEST(Desired, keeps_an_undemanded_memlock_apart_from_unlimited) {
  Desired one = desired(two_nodes(), 0);
  one.memlock_bytes.reset();
  EXPECT_FALSE(desired_from_json(to_json_value(one))->memlock_bytes.has_value());
}

TEST(DesiredJson, refuses_values_of_wrong_type_or_meaning) {
  const auto good = to_json_value(desired(two_nodes(), 0));
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    auto copy = good;
    copy[nlohmann::json::json_pointer(pointer)] = value;
    return copy;
  };
  for (const auto& bad :
       {with("/node", 3), with("/rails/0/address", "172.16.0"), with("/rails/0/prefix", 33), with("/rails/0/mtu", 1e9),
        with("/memlock_bytes", -1), with("/sriov_owner", "me"), with("/rails/1/link_layer", "atm"), with("/rails", 1),
        with("/rails/0/vfs", 1025), with("/rails/0/first_vf_guid", -1), with("/rails/0/first_vf_guid", "02:00"),
        with("/rails/0/vf/vlan", 4095), with("/rails/0/vf/trust", "on"), with("/rails/0/vf/link_policy", "auto"),
        with("/eswitch", "offloads"), with("/rails/0/roce/pfc", {8}), with("/rails/0/roce/traffic_class", 256), with("/rdma_namespace", "private"), with("/kernel_cmdline", "on"), with("/driver/reload", "sometimes"), with("/driver/flags", "--x"),
        with("/management", "x"), nlohmann::json::array(), nlohmann::json()}) {
    const auto back = desired_from_json(bad);
    ASSERT_FALSE(back) << bad.dump();
    EXPECT_EQ(back.error().kind, ErrorKind::parse);
  }
}

}  // namespace
}  // namespace fabricgate
