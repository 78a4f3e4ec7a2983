#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/checks/rdma_case.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Row {
  const char* what;
  std::function<void(RdmaState&)> change;
  const char* told;  ///< cause and verdict
};

void expect_rows(const RdmaCase& good, const std::vector<Row>& rows) {
  const Record record = good.judged_as("link.rdma");
  EXPECT_EQ(record.verdict, Verdict::pass) << record.reason << testing::PrintToString(told(record));
  for (const Row& row : rows) {
    RdmaCase one = good;
    row.change(one.sample.now);
    EXPECT_THAT(told(one.judged_as("link.rdma")), ElementsAre(row.told)) << row.what;
  }
}

TEST(LinkRdma, StatesOfAnInfinibandPortAreToldApart) {
  const auto state = [](const char* logical, const char* physical, int lid, int sm_lid) {
    return [=](RdmaState& s) {
      s.port.state = logical;
      s.port.phys_state = physical;
      s.port.lid = lid;
      s.port.sm_lid = sm_lid;
    };
  };
  expect_rows(rdma_case("infiniband"),
              {{"no subnet manager", state("INIT", "LinkUp", 0, 0), "link.no_subnet_manager fail"},
               {"polling", state("DOWN", "Polling", 65535, 0), "link.polling fail"},
               {"training", state("DOWN", "PortConfigurationTraining", 65535, 1), "link.polling fail"},
               {"disabled", state("DOWN", "Disabled", 38, 13), "link.disabled fail"},
               {"armed", state("ARMED", "LinkUp", 3, 1), "link.state_armed fail"},
               {"VF without subnet manager", state("DOWN", "LinkUp", 65535, 1), "vf.sm_not_serving fail"},
               {"down", state("DOWN", "LinkUp", 0, 0), "link.down fail"},
               {"zero node GUID and its echo", [](RdmaState& s) { s.port.node_guid = "0000:0000:0000:0000"; s.port.state = "INIT"; s.port.lid = 65535; }, "vf.guid_zero fail"},
               {"zero port GUID", [](RdmaState& s) { s.gids[0].gid = "fe80:0000:0000:0000:0000:0000:0000:0000"; }, "gid.port_guid_zero fail"},
               {"no GID", [](RdmaState& s) { s.gids.clear(); }, "gid.port_guid_zero fail"},
               {"two lanes", [](RdmaState& s) { s.port.rate = "200 Gb/sec (2X NDR)"; }, "link.width_degraded fail"},
               {"a slower generation", [](RdmaState& s) { s.port.rate = "200 Gb/sec (4X HDR)"; }, "link.speed_degraded fail"},
               {"two slow lanes", [](RdmaState& s) { s.port.rate = "100 Gb/sec (2X HDR)"; }, "link.speed_degraded fail"},
               {"Ethernet", [](RdmaState& s) { s.port.link_layer = "Ethernet"; }, "rdma.link_layer fail"}});
}

TEST(LinkRdma, ADeclaredDeviceThatIsNotThereIsAFailureThatSaysWhy) {
  const auto gone = [](auto more) {
    return [=](RdmaState& s) {
      s.present = false;
      s.port = {};
      s.devices = {"mlx5_1"};
      more(s);
    };
  };
  for (const char* link_layer : {"infiniband", "ethernet"})
    expect_rows(rdma_case(link_layer, "pci: \"0000:18:00.0\""),
                {{"another device only", gone([](RdmaState&) {}), "rdma.device_absent fail"},
                 {"no device at all", gone([](RdmaState& s) { s.devices.clear(); }), "rdma.no_devices fail"},
                 {"no driver", gone([](RdmaState& s) { s.devices.clear(); s.function_driver = ""; }), "rdma.function_unbound fail"},
                 {"no port of the interface", gone([](RdmaState& s) { s.devices = {"mlx5_0"}; }), "rdma.device_elsewhere fail"},
                 {"on another interface", [](RdmaState& s) { s.netdevs = {"ens2"}; }, "rdma.device_elsewhere fail"},
                 {"at another function", [](RdmaState& s) { s.port.pci = "0000:19:00.0"; }, "rdma.device_elsewhere fail"},
                 {"soft RDMA", [](RdmaState& s) { s.software = true; }, "host.emulation_undeclared fail"}});
}

TEST(LinkRdma, TheGidOfARoceRailIsLookedForByTypeAndAddress) {
  const char* mapped = "0000:0000:0000:0000:0000:ffff:ac10:0001";
  expect_rows(rdma_case("ethernet"),
              {{"link-local alone", [](RdmaState& s) { s.gids.pop_back(); }, "gid.link_local fail"},
               {"v1 alone", [](RdmaState& s) { s.gids[1].type = "IB/RoCE v1"; }, "gid.roce_v1 fail"},
               {"another address", [](RdmaState& s) { s.gids[1].gid = "0000:0000:0000:0000:0000:ffff:ac10:0009"; }, "gid.address_missing fail"},
               {"twice", [=](RdmaState& s) { s.gids.push_back({7, mapped, "RoCE v2", "ens1"}); }, "gid.ambiguous fail"},
               {"empty table", [](RdmaState& s) { s.gids.clear(); }, "gid.port_guid_zero fail"},
               {"an interface of 1500", [](RdmaState& s) { s.netdev_mtu = 1500; }, "mtu.rdma_1024 warn"},
               {"slow", [](RdmaState& s) { s.port.rate = "100 Gb/sec (4X EDR)"; }, "link.speed_degraded fail"}});
  RdmaCase iwarp = rdma_case("ethernet");
  iwarp.sample.now.node_type = "RNIC";
  iwarp.sample.now.gids.clear();
  EXPECT_EQ(iwarp.judged_as("link.rdma").verdict, Verdict::pass);
}

TEST(LinkRdma, ARocePortThatIsDownWithItsInterfaceIsItsEcho) {
  for (const bool carrier : {true, false}) {
    RdmaCase one = rdma_case("ethernet");
    one.sample.now.port.state = "DOWN";
    one.sample.now.netdev_carrier = carrier;
    const Record record = one.judged_as("link.rdma");
    EXPECT_EQ(record.verdict, Verdict::fail);
    ASSERT_EQ(record.findings.size(), 1u);
    EXPECT_EQ(record.findings[0].primary, carrier);
  }
}

TEST(LinkRdma, AnEmulatedRailMayBeSoftRdmaOfAMadeUpRate) {
  RdmaCase one = rdma_case("ethernet", "", "    emulated: true\n");
  one.sample.now.software = true;
  one.sample.now.port.rate = "2.5 Gb/sec (1X SDR)";
  one.sample.now.netdev_mtu = 1500;
  EXPECT_EQ(one.judged_as("link.rdma").verdict, Verdict::pass);
  one.sample.now.present = false;
  one.sample.now.devices.clear();
  EXPECT_EQ(one.judged_as("link.rdma").verdict, Verdict::fail) << "emulated is not absent";
}

VirtualFunction vf(int number) {
  const std::string n = std::to_string(number);
  return {.pci = "0000:18:01." + n, .driver = "mlx5_core", .netdev = "ens1v" + n, .mac = "02:00:5e:00:53:1" + n, .admin_up = true, .carrier = true,
          .mtu = 4200, .device = "mlx5_" + n, .node_guid = "0200:5e00:5300:010" + n, .port_guid = "0200:5e00:5300:010" + n, .state = "ACTIVE", .phys_state = "LinkUp"};
}

RdmaCase with_vfs(const char* link_layer, const std::string& owner) {
  RdmaCase one = rdma_case(link_layer, "vfs: 2", "    sriov: { owner: " + owner + " }\n");
  one.sample.now.vfs_total = 16;
  one.sample.now.vfs = 2;
  one.sample.now.virtual_functions = {vf(2), vf(3)};
  return one;
}

TEST(LinkRdma, VirtualFunctionsAreCountedAndThoseOfTheHostLookedAt) {
  for (const char* link_layer : {"infiniband", "ethernet"})
    expect_rows(with_vfs(link_layer, "host"),
                {{"none", [](RdmaState& s) { s.vfs = 0; s.virtual_functions.clear(); }, "vf.count_mismatch fail"},
                 {"no SR-IOV", [](RdmaState& s) { s.vfs = s.vfs_total = -1; s.virtual_functions.clear(); }, "vf.totalvfs_missing blocked"},
                 {"too many asked for", [](RdmaState& s) { s.vfs = s.vfs_total = 1; s.virtual_functions.pop_back(); }, "vf.exceeds_total fail"},
                 {"a function that is not there", [](RdmaState& s) { s.virtual_functions.pop_back(); }, "vf.unusable fail"},
                 {"no driver", [](RdmaState& s) { s.virtual_functions[1].driver = ""; }, "vf.unusable fail"},
                 {"no RDMA device", [](RdmaState& s) { s.virtual_functions[1].device = ""; }, "vf.unusable fail"},
                 {"zero node GUID", [](RdmaState& s) { s.virtual_functions[1].node_guid = "0000:0000:0000:0000"; }, "vf.guid_zero fail"},
                 {"policy down", [](RdmaState& s) { s.virtual_functions[1].policy = "Down"; }, "vf.link_down fail"},
                 {"no carrier", [](RdmaState& s) { s.virtual_functions[1].carrier = false; }, "vf.link_down fail"}});
  expect_rows(with_vfs("ethernet", "host"),
              {{"no interface", [](RdmaState& s) { s.virtual_functions[0].netdev = ""; }, "vf.unusable fail"},
               {"zero MAC", [](RdmaState& s) { s.virtual_functions[0].mac = "00:00:00:00:00:00"; }, "vf.guid_zero fail"},
               {"small MTU", [](RdmaState& s) { s.virtual_functions[0].mtu = 1500; }, "mtu.vf_below_pf warn"}});
  expect_rows(with_vfs("infiniband", "host"),
              {{"zero port GUID", [](RdmaState& s) { s.virtual_functions[0].port_guid = "0000:0000:0000:0000"; }, "vf.guid_zero fail"},
               {"not served", [](RdmaState& s) { auto& one = s.virtual_functions[0]; one.state = "DOWN"; one.lid = 65535; one.sm_lid = 1; one.carrier = false; }, "vf.sm_not_serving fail"}});
}

TEST(LinkRdma, VirtualFunctionsOfAnOperatorOrAGuestAreOnlyCounted) {
  RdmaCase one = with_vfs("ethernet", "operator");
  one.sample.now.virtual_functions = {{.pci = "0000:18:01.2"}, {.pci = "0000:18:01.3"}};
  EXPECT_EQ(one.judged_as("link.rdma").verdict, Verdict::pass);
  one.sample.now.vfs = 1;
  one.sample.now.virtual_functions.pop_back();
  EXPECT_THAT(told(one.judged_as("link.rdma")), ElementsAre("vf.count_mismatch fail"));
  one = with_vfs("ethernet", "host");
  one.sample.now.virtual_functions[0] = {.pci = "0000:18:01.2", .driver = "vfio-pci"};
  EXPECT_EQ(one.judged_as("link.rdma").verdict, Verdict::pass);
}

TEST(LinkRdma, ASampleThatWasNotReadIsNoEvidence) {
  const std::vector<std::pair<const char*, std::function<void(fabric::RdmaSample&)>>> rows{
      {"no state", [](auto& s) { s.now.port.state = ""; }},      {"no link layer", [](auto& s) { s.now.port.link_layer = ""; }},
      {"no GUID", [](auto& s) { s.now.port.node_guid = ""; }},   {"no rate", [](auto& s) { s.now.port.rate = ""; }},
      {"no time", [](auto& s) { s.now.read_unix_s = 0; }},       {"another host", [](auto& s) { s.host = "gpu2"; }},
      {"another rail", [](auto& s) { s.rail = "rail1"; }},       {"another device", [](auto& s) { s.device = "mlx5_1"; }}};
  for (const auto& [what, change] : rows) {
    RdmaCase one = rdma_case("infiniband");
    change(one.sample);
    EXPECT_THAT(told(one.judged_as("link.rdma")), ElementsAre("gate.sample_unusable inconclusive")) << what;
  }
}

}  // namespace
}  // namespace fabricgate::suites
