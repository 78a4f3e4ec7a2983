#include "fabric/collective/busbw.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

TEST(BusBandwidth, IsTheDataOverTheTimeTimesTheFactorOfAllReduce) {
  EXPECT_DOUBLE_EQ(all_reduce_busbw(1000, 0.5, 2), 2000);  // 2(2−1)/2 = 1
  EXPECT_DOUBLE_EQ(all_reduce_busbw(1000, 0.5, 4), 3000);  // 2·3/4 = 1.5
  EXPECT_DOUBLE_EQ(all_reduce_busbw(1000, 0.5, 1), 0);
  EXPECT_DOUBLE_EQ(all_reduce_busbw(1000, 0, 4), 0);
}

TEST(BusBandwidthBound, AgreesWithValuesWorkedByHandForEightRailsOf400GigabitAndEightRanks) {
  // B = 400 GB/s. N=2: 400·2·15/16 = 750; N=4: 400·4/3·31/32 = 516.67; N=8: 400·8/7·63/64 = 450
  EXPECT_DOUBLE_EQ(busbw_bound(2, 8, 400e9), 750e9);
  EXPECT_NEAR(busbw_bound(4, 8, 400e9), 516.6667e9, 1e6);
  EXPECT_DOUBLE_EQ(busbw_bound(8, 8, 400e9), 450e9);
  EXPECT_NEAR(busbw_bound(16, 8, 400e9), 423.3333e9, 1e6);
  EXPECT_NEAR(busbw_bound(32, 8, 400e9), 411.2903e9, 1e6);
}

TEST(BusBandwidthBound, IsTheNodesRateWithOneRankPerNode) {
  // n = N: N/(N−1) × (N−1)/N = 1
  EXPECT_DOUBLE_EQ(busbw_bound(3, 1, 100e6), 100e6);
  EXPECT_DOUBLE_EQ(busbw_bound(6, 1, 100e6), 100e6);
  EXPECT_DOUBLE_EQ(busbw_bound(1, 8, 100e6), 0);
  EXPECT_DOUBLE_EQ(ring_busbw_bound(4, 400e9), 400e9);
}

}  // namespace
}  // namespace fabricgate::fabric
