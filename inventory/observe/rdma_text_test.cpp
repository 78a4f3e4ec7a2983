#include "inventory/observe/rdma_text.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

TEST(RdmaText, ARateIsReadWithItsLanesAndTheirSpeed) {
  struct Row {
    const char* text;
    double gbps;
    int width;
    const char* speed;
  };
  for (const Row& row : {Row{"400 Gb/sec (4X NDR)", 400, 4, "NDR"}, Row{"2.5 Gb/sec (1X SDR)", 2.5, 1, "SDR"},
                         Row{"100 Gb/sec (2X HDR)\n", 100, 2, "HDR"}, Row{"10 Gb/sec (4X)", 10, 4, ""}}) {
    const auto rate = parse_rdma_rate(row.text);
    ASSERT_TRUE(rate) << row.text;
    EXPECT_EQ(rate->bits_per_s, row.gbps * 1e9);
    EXPECT_EQ(rate->width, row.width);
    EXPECT_EQ(rate->speed, row.speed);
  }
  for (const char* text : {"", "400", "400 Gb/sec", "x Gb/sec (4X NDR)", "400 Gb/sec (X NDR)", "400 Gb/sec 4X NDR",
                           "-1 Gb/sec (4X NDR)", "0 Gb/sec (4X NDR)", "nan Gb/sec (4X NDR)", "400 Gb/sec (99X NDR)"})
    EXPECT_FALSE(parse_rdma_rate(text)) << text;
}

TEST(RdmaText, AGuidOfZerosIsZeroAndAnAbsentOneIsNot) {
  EXPECT_TRUE(is_zero_guid("0000:0000:0000:0000"));
  EXPECT_TRUE(is_zero_guid("00:00:00:00:00:00"));
  EXPECT_FALSE(is_zero_guid("0000:0000:0000:0001"));
  EXPECT_FALSE(is_zero_guid(""));
}

TEST(RdmaText, OnlyAnIpv4MappedGidHasAnAddress) {
  EXPECT_EQ(gid_ipv4("0000:0000:0000:0000:0000:ffff:ac10:0003"), 0xac100003u);
  for (const char* gid : {"fe80:0000:0000:0000:0000:ffff:ac10:0003", "0000:0000:0000:0000:0000:ffff:ac10:000", "",
                          "0000:0000:0000:0000:0000:ffff:ac10:00g3"})
    EXPECT_FALSE(gid_ipv4(gid)) << gid;
}

TEST(RdmaText, TheRdmaMtuOfAnInterfaceLeavesRoomForHeaders) {
  EXPECT_EQ(roce_mtu(9000), 4096);
  EXPECT_EQ(roce_mtu(4192), 4096);
  EXPECT_EQ(roce_mtu(4191), 2048);
  EXPECT_EQ(roce_mtu(1500), 1024);
  EXPECT_EQ(roce_mtu(0), 0);
}

}  // namespace
}  // namespace fabricgate
