#include "fabric/verbs/port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fabric/verbs/fake_verbs.hpp"
#include "fabric/verbs/rail_port.hpp"
#include "inventory/observe/rdma_testing.hpp"

namespace fabricgate::fabric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class VerbsPort : public testing::Test {
 protected:
  void SetUp() override { fake_verbs().reset(); }
  void TearDown() override { EXPECT_EQ(fake_verbs().live, 0); }

  std::string cause_when_opened(const PortName& name) {
    Port port;
    const Failed failed = open_port(name, port);
    return failed ? failed->cause : "";
  }
};

TEST_F(VerbsPort, OpensByNameAndReadsWhatThePortIs) {
  std::vector<std::string> names;
  ASSERT_FALSE(list_devices(names));
  EXPECT_THAT(names, ElementsAre("fake0", "fake1"));
  Port port;
  ASSERT_FALSE(open_port({.device = "fake1", .gid_index = 3}, port));
  EXPECT_EQ(port.text(), "device fake1, port 1");
  EXPECT_TRUE(port.ethernet());
  EXPECT_EQ(mtu_bytes(port.attributes.active_mtu), 4096u);
  EXPECT_EQ(gid_text(port.gid), "0000:0000:0000:0000:0000:ffff:0000:0000");
}

TEST_F(VerbsPort, WhatIsMissingIsToldApart) {
  EXPECT_EQ(cause_when_opened({.device = "fake0", .gid_index = 3}), "");
  EXPECT_EQ(cause_when_opened({.device = "mlx5_0", .gid_index = 3}), "rdma.device_absent");
  EXPECT_EQ(cause_when_opened({.device = "fake0", .port = 2, .gid_index = 3}), "rdma.device_absent");
  EXPECT_EQ(cause_when_opened({.device = "fake0", .gid_index = 1}), "gid.index_absent");
  EXPECT_EQ(cause_when_opened({.device = "fake0"}), "gid.index_absent");  // no index is assumed
  fake_verbs().devices[0].state = IBV_PORT_DOWN;
  EXPECT_EQ(cause_when_opened({.device = "fake0", .gid_index = 3}), "link.down");
  fake_verbs().devices.clear();
  EXPECT_EQ(cause_when_opened({.device = "fake0", .gid_index = 3}), "rdma.no_devices");
}

TEST_F(VerbsPort, InfiniBandNeedsNoGidAndWaitsForASubnetManager) {
  fake_verbs().devices[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
  EXPECT_EQ(cause_when_opened({.device = "fake0"}), "");
  fake_verbs().devices[0].state = IBV_PORT_INIT;
  EXPECT_EQ(cause_when_opened({.device = "fake0"}), "link.no_subnet_manager");
}

TEST_F(VerbsPort, CallsThatFailAreTheCausesOfTheTable) {
  for (const auto& [call, code, cause] : {std::tuple{VerbsCall::get_device_list, ENOSYS, "rdma.no_devices"},
                                          std::tuple{VerbsCall::open_device, EACCES, "rdma.device_denied"},
                                          std::tuple{VerbsCall::query_device, EIO, "rdma.call_failed"},
                                          std::tuple{VerbsCall::query_gid, ENOENT, "gid.index_absent"}}) {
    fake_verbs().fail = {{call, code}};
    EXPECT_EQ(cause_when_opened({.device = "fake0", .gid_index = 3}), cause);
  }
}

TEST(GidText, GoesBothWays) {
  const std::string text = "fe80:0000:0000:0000:0000:5eff:fe00:5301";
  EXPECT_EQ(gid_text(parse_gid_text(text).value()), text);
  for (const std::string wrong :
       {"", "fe80::1", "fe80:0000:0000:0000:0000:5eff:fe00:530",
        "fe80:0000:0000:0000:0000:5eff:fe00:5301:", "ge80:0000:0000:0000:0000:5eff:fe00:5301"})
    EXPECT_FALSE(parse_gid_text(wrong)) << wrong;
}

constexpr std::uint32_t rail_address = 0xac100003;  // 172.16.0.3

TEST(ChoosePort, TakesTheEntryOfTheRailsAddressWhateverItsIndex) {
  FakeHost host;
  add_function(host, "0000:18:00.0", "ens1", "mlx5_core");
  add_roce(host, "mlx5_0", "0000:18:00.0", "ens1");
  PortName name;
  ASSERT_FALSE(choose_port(host, {{"mlx5_0", "ens1", ""}, rail_address}, name));
  EXPECT_EQ(name.device, "mlx5_0");
  EXPECT_EQ(name.port, 1);
  EXPECT_EQ(name.gid_index, 10);
}

TEST(ChoosePort, SaysWhyThereIsNone) {
  FakeHost host;
  PortName name;
  EXPECT_EQ(choose_port(host, {{"mlx5_0", "ens1", ""}, rail_address}, name)->cause, "rdma.no_devices");
  add_function(host, "0000:18:00.0", "ens1", "mlx5_core");
  add_roce(host, "mlx5_0", "0000:18:00.0", "ens1");
  const auto absent = choose_port(host, {{"mlx5_9", "ens1", ""}, rail_address}, name);
  EXPECT_EQ(absent->cause, "rdma.device_absent");
  EXPECT_THAT(absent->what, HasSubstr("mlx5_0"));
  EXPECT_EQ(choose_port(host, {{"mlx5_0", "ens7", ""}, rail_address}, name)->cause, "rdma.device_elsewhere");
  EXPECT_EQ(choose_port(host, {{"mlx5_0", "ens1", ""}, 0x0a000001}, name)->cause, "gid.address_missing");
}

}  // namespace
}  // namespace fabricgate::fabric
