#include "inventory/logs/ip_link.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

TEST(IpLink, TheSettingsOfVfsAreReadInTheWordsOfNewAndOldTools) {
  // keys of print_vfinfo() in iproute2 6.1, values as an igb under QEMU had them
  const auto vfs = parse_vf_settings(R"([{"ifindex":3,"ifname":"eth1","mtu":1500,"vfinfo_list":[
    {"vf":0,"link_type":"ether","address":"52:54:00:aa:00:01","broadcast":"ff:ff:ff:ff:ff:ff",
     "vlan_list":[{"vlan":100}],"tx_rate":100,"rate":{"max_tx":100,"min_tx":0},"spoofchk":false,"link_state":"auto","trust":true},
    {"vf":2,"mac":"66:87:59:c0:91:67","vlan_list":[{}],"rate":{"max_tx":0,"min_tx":0},"spoofchk":true}]}])");
  ASSERT_TRUE(vfs) << vfs.error().what;
  ASSERT_EQ(vfs->size(), 2u);
  const VfSettings &first = vfs->at(0), &second = vfs->at(2);
  EXPECT_EQ(first.mac, "52:54:00:aa:00:01");
  EXPECT_EQ(first.vlan, 100);
  EXPECT_EQ(first.max_rate_mbps, 100);
  EXPECT_EQ(first.spoofchk, false);
  EXPECT_EQ(first.trust, true);
  EXPECT_EQ(first.link_state, "auto");
  EXPECT_EQ(second.mac, "66:87:59:c0:91:67");
  EXPECT_EQ(second.vlan, 0);
  EXPECT_EQ(second.max_rate_mbps, 0);
  EXPECT_EQ(second.trust, std::nullopt) << "not told by this driver";
}

TEST(IpLink, AnInterfaceWithoutVfsHasNone) {
  EXPECT_TRUE(parse_vf_settings(R"([{"ifname":"eth1"}])")->empty());
  EXPECT_TRUE(parse_vf_settings("[]")->empty());
}

TEST(IpLink, WhatIsNoSuchTextIsAnError) {
  for (const char* text :
       {"", "Device \"eth9\" does not exist.", R"([{"vfinfo_list":[{"vf":"x"}]}])", R"([{"vfinfo_list":[{"vf":1.5}]}])",
        R"([{"vfinfo_list":[{"vf":0,"link_state":7}]}])", R"([{"vfinfo_list":[{"vf":0,"vlan":"x"}]}])"}) {
    const auto vfs = parse_vf_settings(text);
    ASSERT_FALSE(vfs) << text;
    EXPECT_EQ(vfs.error().kind, ErrorKind::parse);
  }
}

}  // namespace
}  // namespace fabricgate
