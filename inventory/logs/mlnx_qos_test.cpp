#include "inventory/logs/mlnx_qos.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MlnxQos, TrustPrioritiesAndPfcAreRead) {
  // of an eth2, from community.mellanox.com/docs/DOC-2792 (MLNX_OFED 4.2), traffic classes shortened
  const auto settings = parse_mlnx_qos(R"(DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,05,04,03,02,01,00,
	prio:1 dscp:15,14,13,12,11,10,09,08,
	prio:2 dscp:23,22,21,20,19,18,17,16,
	prio:3 dscp:31,30,29,28,27,26,25,24,
	prio:4 dscp:39,38,37,36,35,34,33,32,
	prio:5 dscp:47,46,45,44,43,42,41,40,
	prio:6 dscp:55,54,53,52,51,50,49,48,
	prio:7 dscp:63,62,61,60,59,58,57,56,
Cable len: 10
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     1   0   1   0   0   0   1   1   

tc: 0 ratelimit: unlimited, tsa: ets, bw: 10%
	 priority:  1
tc: 1 ratelimit: unlimited, tsa: ets, bw: 10%
	 priority:  0
tc: 7 ratelimit: unlimited, tsa: ets, bw: 40%
	 priority:  7
)");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->dcbx, "OS controlled");
  EXPECT_EQ(settings->trust, "dscp");
  EXPECT_THAT(settings->pfc, ElementsAre(0, 2, 6, 7));
  EXPECT_EQ(settings->priorities.size(), 64u);
  EXPECT_EQ(settings->priorities.at(26), 3);
  EXPECT_EQ(settings->priorities.at(7), 0);
}

TEST(MlnxQos, WithoutTrustInDscpThereIsNoMapping) {
  const auto settings = parse_mlnx_qos(
      "DCBX mode: Firmware controlled\r\nPriority trust state: pcp\r\nPFC configuration:\r\n"
      "\tpriority    0   1   2   3   4   5   6   7\r\n\tenabled     0   0   0   0   0   0   0   0   \r\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->dcbx, "Firmware controlled");
  EXPECT_EQ(settings->trust, "pcp");
  EXPECT_THAT(settings->pfc, IsEmpty());
  EXPECT_THAT(settings->priorities, IsEmpty());
}

TEST(MlnxQos, WhatTheToolSaysWhenItFailsIsTheError) {
  const auto failed = parse_mlnx_qos("\nNetlink error: Bad value. see dmesg.\n");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::native);
  EXPECT_EQ(failed.error().what, "Netlink error: Bad value. see dmesg.");
  EXPECT_FALSE(parse_mlnx_qos(""));
  EXPECT_FALSE(parse_mlnx_qos("PFC configuration:\n\tpriority 0 1 2\n\tenabled 0\n"));
  EXPECT_FALSE(parse_mlnx_qos("PFC configuration:\n\tpriority 0 1 2\n"));
}

}  // namespace
}  // namespace fabricgate
