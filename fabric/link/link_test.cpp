#include "fabric/link/link_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/host/fake_host.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;

FakeHost veth() {
  FakeHost host;
  const std::string folder = "/sys/class/net/eth7/";
  host.files = {{folder + "flags", "0x1003\n"},
                {folder + "carrier", "1\n"},
                {folder + "speed", "-1\n"},
                {folder + "mtu", "9000\n"},
                {folder + "carrier_changes", "4\n"},
                {folder + "ifindex", "12\n"},
                {folder + "address", "02:00:00:00:00:07\n"},
                {folder + "operstate", "up\n"},
                {folder + "statistics/rx_errors", "3\n"},
                {folder + "statistics/tx_bytes", "123456789012\n"}};
  host.interface_addresses = {{"eth7", "10.1.0.7", 16}, {"eth8", "10.2.0.7", 16}, {"eth7", "fe80::7", 64}};
  return host;
}

TEST(LinkProbe, EverythingTheKernelShowsIsRead) {
  FakeHost host = veth();
  const LinkState state = read_link(host, "eth7", Deadline::in_seconds(5));
  EXPECT_TRUE(state.present && state.admin_up && state.carrier);
  EXPECT_EQ(state.speed_mbps, -1);
  EXPECT_EQ(state.mtu, 9000);
  EXPECT_EQ(state.mac, "02:00:00:00:00:07");
  EXPECT_EQ(state.carrier_changes, 4);
  EXPECT_EQ(state.index, 12);
  EXPECT_THAT(state.addresses, ElementsAre("10.1.0.7/16"));
  EXPECT_EQ(state.counters.at("rx_errors"), 3);
  EXPECT_EQ(state.counters.at("tx_bytes"), 123456789012);
}

TEST(LinkProbe, AnInterfaceThatIsSwitchedOffHasNoCarrier) {
  FakeHost host = veth();
  host.files["/sys/class/net/eth7/flags"] = "0x1002\n";
  host.files.erase("/sys/class/net/eth7/carrier");  // reading it gives EINVAL while the interface is off
  host.files["/sys/class/net/eth7/speed"] = "25000\n";
  const LinkState state = read_link(host, "eth7", Deadline::in_seconds(5));
  EXPECT_TRUE(state.present);
  EXPECT_FALSE(state.admin_up || state.carrier);
  EXPECT_EQ(state.speed_mbps, 25000);
}

TEST(LinkProbe, AnAbsentInterfaceIsNotPresent) {
  FakeHost host = veth();
  EXPECT_FALSE(read_link(host, "eth9", Deadline::in_seconds(5)).present);
  EXPECT_FALSE(read_link(host, "", Deadline::in_seconds(5)).present);
}

// Synthetic, in the layout of the bonding driver (Documentation/networking/bonding.rst).
TEST(LinkProbe, TheLegsOfABondAreReadAndTheOneOutsideTheAggregatorIsTold) {
  FakeHost host = veth();
  EXPECT_TRUE(read_link(host, "eth7", Deadline::in_seconds(5)).bond.empty());
  host.files["/sys/class/net/eth7/bonding/slaves"] = "ens1f0 ens1f1 ens1f2\n";
  host.files["/sys/class/net/eth7/bonding/ad_aggregator"] = "1\n";
  for (const auto& [name, status, aggregator] :
       {std::tuple{"ens1f0", "up\n", "1\n"}, {"ens1f1", "down\n", "1\n"}, {"ens1f2", "up\n", "2\n"}}) {
    const std::string leg = std::string("/sys/class/net/") + name + "/bonding_slave/";
    host.files[leg + "mii_status"] = status;
    host.files[leg + "ad_aggregator_id"] = aggregator;
  }
  const auto bond = read_link(host, "eth7", Deadline::in_seconds(5)).bond;
  ASSERT_EQ(bond.size(), 3u);
  EXPECT_TRUE(bond[0].up && bond[0].carries);
  EXPECT_FALSE(bond[1].up);
  EXPECT_TRUE(bond[2].up);
  EXPECT_FALSE(bond[2].carries);
  host.files.erase("/sys/class/net/eth7/bonding/ad_aggregator");  // no LACP
  EXPECT_TRUE(read_link(host, "eth7", Deadline::in_seconds(5)).bond[2].carries);
}

TEST(LinkSample, SurvivesJson) {
  FakeHost host = veth();
  host.files["/sys/class/net/eth7/bonding/slaves"] = "ens1f0\n";
  LinkSample sample{
      .host = "n1", .rail = "rail0", .netdev = "eth7", .now = read_link(host, "eth7", Deadline::in_seconds(5))};
  const auto without = to_json_value(sample);
  EXPECT_FALSE(link_sample_from_json(without)->before);
  sample.before = sample.now;
  sample.before->counters["rx_errors"] = 1;
  const auto again = link_sample_from_json(nlohmann::json::parse(to_json_value(sample).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json_value(*again), to_json_value(sample));
  EXPECT_EQ(again->before->counters.at("rx_errors"), 1);
  EXPECT_EQ(again->now.counters.at("tx_bytes"), 123456789012);
}

TEST(LinkSample, AWrongValueIsAnError) {
  for (const char* text : {"null", "[]", "{}", "7", R"({"host":1})"}) {
    EXPECT_FALSE(link_sample_from_json(nlohmann::json::parse(text))) << text;
  }
  FakeHost host = veth();
  auto value = to_json_value(LinkSample{.now = read_link(host, "eth7", Deadline::in_seconds(5))});
  value["now"]["mtu"] = "large";
  EXPECT_FALSE(link_sample_from_json(value));
}

}  // namespace
}  // namespace fabricgate::fabric
