#include "inventory/observe/lldp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/host/fake_host.hpp"

namespace fabricgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Synthetic, in the form of lldpd 1.0's `lldpctl -f json`.
const char* two_ports = R"({"lldp": {"interface": [
  {"ens1": {"via": "LLDP", "rid": "1", "chassis": {"leaf-a": {"id": {"type": "mac", "value": "02:00:5e:00:53:a0"},
     "descr": "switch", "mgmt-ip": "192.0.2.1", "capability": [{"type": "Bridge", "enabled": true}]}},
     "port": {"id": {"type": "ifname", "value": "Ethernet1/1"}, "ttl": "120"}}},
  {"ens2": {"via": "LLDP", "chassis": {"id": {"type": "mac", "value": "02:00:5e:00:53:b0"}},
     "port": {"id": {"type": "ifname", "value": "Ethernet1/2"}}}},
  {"ens2": {"via": "LLDP", "chassis": {"leaf-b": {"id": {"type": "mac", "value": "02:00:5e:00:53:b1"}}},
     "port": {"id": {"type": "ifname", "value": "Ethernet1/3"}}}}]}})";

TEST(Lldp, NeighboursAreReadWithAndWithoutANameAndSeveralOnOneInterface) {
  const auto all = parse_lldp(two_ports);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].netdev, "ens1");
  EXPECT_EQ((*all)[0].chassis, "leaf-a");
  EXPECT_EQ((*all)[0].port, "Ethernet1/1");
  EXPECT_EQ((*all)[1].chassis, "");
  EXPECT_EQ((*all)[1].chassis_id, "02:00:5e:00:53:b0");
  EXPECT_EQ((*all)[2].netdev, "ens2");
  EXPECT_EQ((*all)[2].chassis, "leaf-b");
}

TEST(Lldp, OneInterfaceIsAnObjectAndNoneIsNoError) {
  const auto one = parse_lldp(R"({"lldp": {"interface": {"ens1": {"chassis": {"leaf-a": {}}, "port": {}}}}})");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().chassis, "leaf-a");
  for (const char* text : {R"({"lldp": {}})", R"({"lldp": []})"}) {
    const auto none = parse_lldp(text);
    ASSERT_TRUE(none) << text;
    EXPECT_THAT(*none, IsEmpty());
  }
}

TEST(Lldp, WhatIsNoAnswerOfTheToolIsAnError) {
  for (const char* text :
       {"", "[]", "{}", "no json", R"({"lldp": {"interface": 7}})", R"({"lldp": {"interface": {"ens1": 7}}})",
        R"({"lldp": {"interface": {"ens1": {"chassis": 7}}}})"})
    EXPECT_FALSE(parse_lldp(text)) << text;
}

TEST(Lldp, WithoutTheToolOrItsDaemonTheReasonIsNamed) {
  FakeHost host;
  EXPECT_FALSE(read_lldp(host, Deadline::in_seconds(5)));
  host.commands["lldpctl -f json"] = {1, "", "unable to connect to socket /run/lldpd.socket\n"};
  const auto answer = read_lldp(host, Deadline::in_seconds(5));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().what, HasSubstr("unable to connect to socket"));
}

}  // namespace
}  // namespace fabricgate
