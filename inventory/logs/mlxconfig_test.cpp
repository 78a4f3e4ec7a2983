#include "inventory/logs/mlxconfig.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

TEST(Mlxconfig, ColumnsAreReadByTheHeader) {
  // mstconfig of a ConnectX-5, as reported in k8snetworkplumbingwg/sriov-network-operator#492; address made neutral
  const auto settings = parse_mlxconfig(R"(
Device #1:
----------

Device type:        ConnectX5
Name:               MCX556A-ECAT_Ax
Device:             0000:17:00.0

Configurations:                                      Default         Current         Next Boot
         NUM_OF_VFS                                  0               0               16
*        SRIOV_EN                                    False(0)        False(0)        True(1)
         LINK_TYPE_P1                                IB(1)           IB(1)           IB(1)
The '*' shows parameters with next value different from default/current value.
)");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->size(), 3u);
  EXPECT_EQ(settings->at("NUM_OF_VFS").standard, "0");
  EXPECT_EQ(settings->at("NUM_OF_VFS").next, "16");
  EXPECT_EQ(settings->at("SRIOV_EN").current, "False(0)");
  EXPECT_EQ(settings->at("SRIOV_EN").next, "True(1)");
}

TEST(Mlxconfig, WithoutTheOptionOnlyTheNextBootIsTold) {
  // layout of mlxconfig without -e; synthetic
  const auto settings = parse_mlxconfig(
      "Configurations:                              Next Boot\nRO       MEMIC_BAR_SIZE      0\n         SRIOV_EN      "
      "True(1)\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->at("SRIOV_EN").next, "True(1)");
  EXPECT_EQ(settings->at("SRIOV_EN").current, "");
  EXPECT_EQ(settings->at("MEMIC_BAR_SIZE").next, "0");
}

TEST(Mlxconfig, WhatTheToolSaysWhenItFailsIsTheError) {
  // messages of mstflint's mlxconfig
  const auto failed = parse_mlxconfig("-E- Failed to open the device\n");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "Failed to open the device");
  EXPECT_EQ(failed.error().kind, ErrorKind::native);
  EXPECT_FALSE(parse_mlxconfig("Device type: ConnectX5\n-E- Failed to query device current configuration\n"));
  for (const char* text : {"", "-E-", "Configurations: Default Current Next Boot\n", "command not found\n"})
    EXPECT_FALSE(parse_mlxconfig(text)) << text;
}

TEST(Mlxconfig, NumbersStandAloneOrInBrackets) {
  EXPECT_EQ(setting_number("True(1)"), 1);
  EXPECT_EQ(setting_number("16"), 16);
  EXPECT_EQ(setting_number("0x10"), 16);
  for (const char* text : {"", "N/A", "Array[0..7]", "True(", "(x)"}) EXPECT_EQ(setting_number(text), -1) << text;
}

}  // namespace
}  // namespace fabricgate
