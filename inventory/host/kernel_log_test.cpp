#include "inventory/host/kernel_log.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

TEST(KernelLog, ARecordIsItsNumberAndItsFirstLine) {
  // from igb under QEMU, Debian 12
  const auto one = parse_kernel_record(
      "4,721,94229862,-;igb 0000:01:00.0: 4 VFs already enabled. Disable before enabling 2 VFs\n"
      " SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->sequence, 721u);
  EXPECT_EQ(one->text, "igb 0000:01:00.0: 4 VFs already enabled. Disable before enabling 2 VFs");
  EXPECT_EQ(parse_kernel_record("30,8,1,c,caller=T1;a; b\n")->text, "a; b");
  EXPECT_EQ(parse_kernel_record("6,9,1,-;\n")->text, "");
}

TEST(KernelLog, WhatIsNoRecordIsLeftOut) {
  for (const char* text : {"", "text", "6;text", "6,x,1,-;text", ";6,1", "6,99999999999999999999,1,-;x"})
    EXPECT_FALSE(parse_kernel_record(text)) << text;
}

}  // namespace
}  // namespace fabricgate
