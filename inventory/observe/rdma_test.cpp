#include "inventory/observe/rdma.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/observe/rdma_testing.hpp"

namespace fabricgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

const std::string pf = "0000:18:00.0";

FakeHost roce_machine() {
  FakeHost host;
  add_function(host, pf, "ens1f0", "mlx5_core");
  add_roce(host, "mlx5_0", pf, "ens1f0");
  return host;
}

TEST(RdmaState, APortIsReadWithItsEntriesInTheOrderOfTheirIndex) {
  FakeHost host = roce_machine();
  const RdmaState state = read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"});
  ASSERT_TRUE(state.present);
  EXPECT_EQ(state.port.state, "ACTIVE");
  EXPECT_EQ(state.port.rate, "200 Gb/sec (4X HDR)");
  EXPECT_EQ(state.port.pci, pf);
  EXPECT_EQ(state.node_type, "CA");
  EXPECT_FALSE(state.software);
  EXPECT_THAT(state.devices, ElementsAre("mlx5_0"));
  EXPECT_THAT(state.netdevs, ElementsAre("ens1f0"));
  std::vector<int> order;
  for (const Gid& gid : state.gids) order.push_back(gid.index);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 10)) << "the empty entry is left out, 10 comes after 2";
  EXPECT_EQ(state.gids.back().type, "RoCE v2");
  EXPECT_TRUE(state.netdev_up && state.netdev_carrier);
  EXPECT_EQ(state.netdev_mtu, 9000);
  EXPECT_EQ(state.function, pf);
  EXPECT_TRUE(state.function_present);
  EXPECT_EQ(state.function_driver, "mlx5_core");
  EXPECT_EQ(state.vfs, -1) << "no SR-IOV attribute is not a count of 0";
}

TEST(RdmaState, CountersThatAreNoNumbersAndSettingsAmongThemAreLeftOut) {
  FakeHost host = roce_machine();
  const RdmaState state = read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"});
  EXPECT_THAT(state.port.counters, ElementsAre(Pair("local_ack_timeout_err", 7), Pair("symbol_error", 0)));
}

TEST(RdmaState, AMachineWithoutRdmaIsAbsentAndNothingIsInvented) {
  FakeHost host;
  add_function(host, pf, "ens1f0", "mlx5_core");
  const RdmaState state = read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"});
  EXPECT_FALSE(state.present);
  EXPECT_THAT(state.devices, IsEmpty());
  EXPECT_EQ(state.function_driver, "mlx5_core");
  EXPECT_FALSE(read_rdma(host, {.device = "", .netdev = "none"}).present);
}

TEST(RdmaState, OfSeveralPortsTheOneOfTheInterfaceIsRead) {
  FakeHost host = roce_machine();
  add_files(
      host, "/sys/class/infiniband/mlx5_0/ports/2",
      {{"state", "1: DOWN"}, {"gids/0", "fe80:0000:0000:0000:0000:5eff:fe00:5302"}, {"gid_attrs/ndevs/0", "ens1f1"}});
  EXPECT_EQ(read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"}).port.port, 1);
  EXPECT_EQ(read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f1"}).port.port, 2);
  EXPECT_FALSE(read_rdma(host, {.device = "mlx5_0", .netdev = "ib0"}).present) << "no port is guessed";
  host.files["/sys/class/net/ib0/dev_port"] = "1\n";
  EXPECT_EQ(read_rdma(host, {.device = "mlx5_0", .netdev = "ib0"}).port.port, 2);
}

TEST(RdmaState, SoftRdmaIsToldFromAnAdapter) {
  FakeHost host;
  add_roce(host, "rxe0", pf, "eth1");
  host.files["/sys/class/infiniband/rxe0/parent"] = "eth1\n";
  EXPECT_TRUE(read_rdma(host, {.device = "rxe0", .netdev = "eth1"}).software);
  host.files.erase("/sys/class/infiniband/rxe0/parent");
  EXPECT_FALSE(read_rdma(host, {.device = "rxe0", .netdev = "eth1"}).software);
  host.links["/sys/class/infiniband/rxe0"] = "../../devices/virtual/infiniband/rxe0";
  EXPECT_TRUE(read_rdma(host, {.device = "rxe0", .netdev = "eth1"}).software);
}

TEST(RdmaState, VirtualFunctionsAreReadInTheOrderOfTheirNumber) {
  FakeHost host = roce_machine();
  const std::string folder = "/sys/bus/pci/devices/" + pf;
  add_files(host, folder, {{"sriov_totalvfs", "16"}, {"sriov_numvfs", "11"}, {"sriov/1/policy", "Down"}});
  for (int i = 0; i < 11; ++i)
    host.links[folder + "/virtfn" + std::to_string(i)] = "../0000:18:01." + std::to_string(i);
  add_function(host, "0000:18:01.1", "ens1f0v1", "mlx5_core");
  add_roce(host, "mlx5_3", "0000:18:01.1", "ens1f0v1");
  host.files["/sys/class/infiniband/mlx5_3/node_guid"] = "0000:0000:0000:0000\n";
  const RdmaState state = read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"});
  EXPECT_EQ(state.vfs_total, 16);
  ASSERT_EQ(state.virtual_functions.size(), 11u);
  EXPECT_EQ(state.virtual_functions[10].pci, "0000:18:01.10");
  EXPECT_EQ(state.virtual_functions[0].driver, "");
  const VirtualFunction& vf = state.virtual_functions[1];
  EXPECT_EQ(vf.netdev, "ens1f0v1");
  EXPECT_EQ(vf.device, "mlx5_3");
  EXPECT_EQ(vf.node_guid, "0000:0000:0000:0000");
  EXPECT_EQ(vf.port_guid, "0000:5eff:fe00:5301");
  EXPECT_EQ(vf.policy, "Down");
  EXPECT_TRUE(vf.admin_up && vf.carrier);
}

TEST(RdmaState, SurvivesJsonAndAMissingKeyIsAnError) {
  FakeHost host = roce_machine();
  const auto value = to_json_value(read_rdma(host, {.device = "mlx5_0", .netdev = "ens1f0"}));
  const auto again = rdma_state_from_json(nlohmann::json::parse(value.dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json_value(*again), value);
  for (const auto& [key, unused] : value.items()) {
    auto cut = value;
    cut.erase(key);
    EXPECT_FALSE(rdma_state_from_json(cut)) << key;
  }
}

}  // namespace
}  // namespace fabricgate
