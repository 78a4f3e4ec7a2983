#include "inventory/learn.hpp"

#include <gmock/gmock.h>

namespace fabricgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PciDevice nic(const std::string& address, int numa, int vfs = 0) {
  return {.address = address,
          .vendor = "0x15b3",
          .device = "0x1021",
          .device_class = "0x020700",
          .link_width = "16",
          .numa_node = numa,
          .vfs = vfs};
}
PciDevice gpu(const std::string& address, int numa) {
  return {.address = address, .vendor = "0x10de", .device = "0x2330", .device_class = "0x030200", .numa_node = numa};
}
Netdev netdev(const std::string& name, const std::string& pci, std::int64_t speed_mbps,
              std::vector<std::string> addresses) {
  return {.name = name,
          .mac = "02:00:00:00:00:01",
          .driver = "mlx5_core",
          .pci = pci,
          .admin_up = true,
          .carrier = true,
          .speed_mbps = speed_mbps,
          .mtu = 9000,
          .addresses = std::move(addresses)};
}

/// Two NUMA nodes, each with one GPU and one InfiniBand or Ethernet adapter; a management port, an idle one, a VF, a
/// bridge.
Facts machine() {
  Facts facts{
      .hostname = "gpu001", .os_id = "ubuntu", .os_version = "22.04", .kernel = "5.15.0-91-generic", .cpus = 96};
  facts.gpus = 2;
  facts.memory_bytes = std::int64_t{1} << 40;
  facts.memlock_soft_bytes = UINT64_MAX;
  facts.pci = {gpu("0000:9b:00.0", 1),    nic("0000:9a:00.0", 1), gpu("0000:19:00.0", 0),
               nic("0000:18:00.0", 0, 8), nic("0000:01:00.0", 0), nic("0000:02:00.0", 0)};
  PciDevice vf = nic("0000:18:00.1", 0);
  vf.physical_function = "0000:18:00.0";
  facts.pci.push_back(vf);
  facts.netdevs = {
      netdev("ibs9", "0000:9a:00.0", -1, {}),       netdev("eno1", "0000:01:00.0", 1000, {"10.0.0.7/24"}),
      netdev("eno2", "0000:02:00.0", -1, {}),       netdev("ens1", "0000:18:00.0", 200000, {"172.16.3.7/16"}),
      netdev("ens1v0", "0000:18:00.1", 200000, {}), netdev("docker0", "", -1, {"172.31.0.1/16"})};
  facts.netdevs[2].carrier = false;
  facts.rdma_ports = {
      {.device = "mlx5_3", .netdev = "ibs9", .rate = "400 Gb/sec (4X NDR)", .link_layer = "InfiniBand", .port = 1},
      {.device = "mlx5_0", .netdev = "ens1", .rate = "200 Gb/sec", .link_layer = "Ethernet", .port = 1}};
  return facts;
}

const std::string open = "CHANGE-ME";
const Cidr management = *parse_cidr("10.0.0.0/24");

TEST(Learn, writes_rails_in_pci_order_with_device_gpu_and_rate) {
  const std::string yaml = learn_class(machine(), management, "h100");
  EXPECT_THAT(
      yaml,
      HasSubstr(
          "      - name: rail1\n        netdev: ens1\n        device: mlx5_0\n        pci: \"0000:18:00.0\"\n"
          "        gpu: 0\n        rate_gbps: 200\n        mtu: 9000\n        cidr: 172.16.0.0/16\n        vfs: 8\n"));
  EXPECT_THAT(
      yaml,
      HasSubstr("      - name: rail2\n        netdev: ibs9\n        device: mlx5_3\n        pci: \"0000:9a:00.0\"\n"
                "        gpu: 1\n        link_layer: infiniband\n        rate_gbps: 400\n        mtu: 9000\n"
                "        cidr: CHANGE-ME\n"));
}

TEST(Learn, names_every_interface_it_leaves_out_with_the_reason) {
  const std::string yaml = learn_class(machine(), management, "h100");
  EXPECT_THAT(yaml, HasSubstr("# left out: eno1 (management)\n"));
  EXPECT_THAT(yaml, HasSubstr("# left out: ens1v0 (virtual function of 0000:18:00.0)\n"));
  EXPECT_THAT(yaml, HasSubstr("# left out: docker0 (not a physical interface)\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("netdev: eno1")));
}

TEST(Learn, writes_a_rail_without_carrier_or_address_with_what_is_open_and_why) {
  const std::string yaml = learn_class(machine(), management, "h100");
  EXPECT_THAT(yaml, HasSubstr("      # eno2 has no carrier and no address: fill in rate_gbps and cidr, or remove it if "
                              "it is no rail\n      - name: rail0\n        netdev: eno2\n"));
  EXPECT_THAT(yaml, HasSubstr("      # ibs9 has no address: fill in cidr, or remove it if it is no rail\n"));
  Facts facts = machine();
  facts.netdevs[3].carrier = false;
  const std::string unplugged = learn_class(facts, management, "h100");
  EXPECT_THAT(unplugged, HasSubstr("      # ens1 has no carrier: fill in rate_gbps, or remove it if it is no rail\n"));
  EXPECT_THAT(unplugged, HasSubstr("        rate_gbps: CHANGE-ME\n        mtu: 9000\n        cidr: 172.16.0.0/16\n"));
}

TEST(Learn, takes_the_rate_of_an_active_port_whose_interface_is_down) {
  Facts facts = machine();
  facts.netdevs[0].admin_up = facts.netdevs[0].carrier = false;
  EXPECT_THAT(learn_class(facts, management, "h100"),
              HasSubstr("# ibs9 is down and has no address: fill in rate_gbps"));
  facts.rdma_ports[0].state = "ACTIVE";
  EXPECT_THAT(learn_class(facts, management, "h100"), HasSubstr("        rate_gbps: 400\n"));
}

TEST(Learn, gives_a_class_that_loads_once_the_open_points_are_filled_in) {
  std::string yaml = learn_class(machine(), management, "h100");
  for (const char* value : {"1", "172.18.0.0/16", "172.17.0.0/16"}) yaml.replace(yaml.find(open), open.size(), value);
  const auto loaded = parse_inventory("schema: 1\ncluster: { name: a, management_cidr: 10.0.0.0/24 }\nclasses:\n" +
                                          yaml + "nodes:\n  - { hosts: gpu001, class: h100 }\n",
                                      "learnt");
  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems.front());
  EXPECT_EQ(loaded.inventory->nodes[0].spec->rails.size(), 3u);
  EXPECT_EQ(loaded.inventory->nodes[0].spec->memlock_bytes, UINT64_MAX);
}

TEST(Learn, takes_addressed_interfaces_where_nothing_is_physical) {
  Facts facts{.hostname = "n1"};
  facts.netdevs = {netdev("lo", "", -1, {"127.0.0.1/8"}), netdev("m0", "", 10000, {"10.0.0.1/24"}),
                   netdev("f1", "", 1000, {"172.16.0.1/24"})};
  const std::string yaml = learn_class(facts, management, "emu");
  EXPECT_THAT(yaml, HasSubstr("      - name: rail0\n        netdev: f1\n        rate_gbps: 1\n        mtu: 9000\n      "
                              "  cidr: 172.16.0.0/24\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("netdev: m0")));
  EXPECT_THAT(yaml, Not(HasSubstr("gpu: ")));
}

TEST(Learn, says_that_interfaces_are_software) {
  Facts facts{.hostname = "n1"};
  facts.netdevs = {netdev("f1", "", 1000, {"172.16.0.1/24"})};
  EXPECT_THAT(learn_class(facts, management, "emu"), Not(HasSubstr("emulated")));
  facts.netdevs[0].driver = "veth";
  EXPECT_THAT(learn_class(facts, management, "emu"), HasSubstr("# f1 is made by software (driver veth), and its rate with it: "));
}

TEST(Learn, writes_every_rail_of_a_bare_node_without_pci_and_no_bridge_or_tunnel) {
  Facts facts{.hostname = "n1"};
  facts.netdevs = {netdev("m0", "", 10000, {"10.0.0.1/24"}), netdev("f1", "", 1000, {}), netdev("f2", "", 1000, {}),
                   netdev("tunl0", "", -1, {}), netdev("docker0", "", -1, {"172.17.0.1/16"})};
  facts.netdevs[2].carrier = facts.netdevs[2].admin_up = false;
  facts.netdevs[3].mac = "0.0.0.0";
  const std::string yaml = learn_class(facts, management, "emu");
  EXPECT_THAT(yaml, HasSubstr("netdev: f1\n        rate_gbps: 1\n        mtu: 9000\n        cidr: CHANGE-ME\n"));
  EXPECT_THAT(yaml, HasSubstr("      # f2 is down and has no address: fill in rate_gbps and cidr, "));
  EXPECT_THAT(yaml,
              HasSubstr("netdev: f2\n        rate_gbps: CHANGE-ME\n        mtu: 9000\n        cidr: CHANGE-ME\n"));
  for (const char* name : {"m0", "tunl0", "docker0"}) EXPECT_THAT(yaml, Not(HasSubstr(std::string("netdev: ") + name)));
}

TEST(NearestGpu, prefers_the_numa_node_then_the_bus_and_uses_each_once) {
  Facts facts;
  facts.pci = {gpu("0000:10:00.0", 0), gpu("0000:20:00.0", 0), gpu("0000:90:00.0", 1),
               nic("0000:21:00.0", 0), nic("0000:22:00.0", 0), nic("0000:23:00.0", 1)};
  EXPECT_THAT(nearest_gpus(facts, {"0000:21:00.0", "0000:22:00.0", "0000:23:00.0", "0000:21:00.0", ""}),
              ElementsAre(1, 0, 2, 1, -1));
  EXPECT_THAT(nearest_gpus(Facts{}, {"0000:21:00.0"}), ElementsAre(-1));
}

TEST(Differences, are_none_between_nodes_that_differ_in_identity_alone) {
  Facts other = machine();
  other.hostname = "gpu002";
  other.machine_id = "x";
  other.netdevs[1].addresses = {"10.0.0.8/24"};
  other.netdevs[1].mac = "02:00:00:00:00:02";
  other.netdevs[1].carrier_changes = 9;
  other.memory_bytes -= 4096;
  EXPECT_THAT(differences(machine(), other), IsEmpty());
}

TEST(Differences, cover_interfaces_without_a_pci_address) {
  Facts reference{.hostname = "n1"};
  reference.netdevs = {netdev("f1", "", 1000, {"172.16.0.1/24"}), netdev("f2", "", 1000, {}),
                       netdev("f3", "", 1000, {}), netdev("docker0", "", -1, {})};
  Facts other = reference;
  other.netdevs[0].mtu = 1500;
  other.netdevs[1].carrier = false;
  other.netdevs[1].speed_mbps = -1;
  other.netdevs.resize(2);
  EXPECT_THAT(differences(reference, other),
              ::testing::IsSupersetOf({"mtu of f1: 9000, here 1500", "carrier of f2: yes, here no",
                                       "speed in Mb/s of f2: 1000, here -1", "carrier of f3: yes, here missing"}));
}

TEST(Differences, name_the_part_and_both_values) {
  Facts other = machine();
  other.kernel = "6.8";
  other.gpus = 1;
  other.netdevs[3].mtu = 1500;
  other.pci[3].link_width = "8";
  other.rdma_ports.pop_back();
  other.memory_bytes /= 2;
  const auto found = differences(machine(), other);
  const std::string all = ::testing::PrintToString(found);
  EXPECT_THAT(found, ::testing::IsSupersetOf({"kernel: 5.15.0-91-generic, here 6.8", "gpus: 2, here 1",
                                              "mtu of ens1: 9000, here 1500", "link of 0000:18:00.0:  x16, here  x8",
                                              "rate of mlx5_0 port 1: 200 Gb/sec, here missing"}))
      << all;
  EXPECT_THAT(all, HasSubstr("memory in bytes: 1099511627776, here 549755813888"));
  EXPECT_EQ(found.size(), 9u) << all;
}

}  // namespace
}  // namespace fabricgate
