#include "fabric/link/rdma_sample.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

TEST(LinkRdmaSample, SurvivesJsonWithAndWithoutAStateBefore) {
  RdmaSample sample{.host = "n1", .rail = "rail0", .device = "mlx5_0"};
  sample.now.port.counters = {{"symbol_error", 3}};
  sample.now.gids = {{3, "0000:0000:0000:0000:0000:ffff:ac10:0003", "RoCE v2", "ens1"}};
  EXPECT_FALSE(rdma_sample_from_json(to_json_value(sample))->before);
  sample.before = sample.now;
  sample.before->port.counters["symbol_error"] = 1;
  const auto value = to_json_value(sample);
  const auto again = rdma_sample_from_json(nlohmann::json::parse(value.dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json_value(*again), value);
  EXPECT_EQ(again->before->port.counters.at("symbol_error"), 1);
}

TEST(LinkRdmaSample, AWrongValueIsAnError) {
  for (const char* text : {"null", "[]", "{}", "7", R"({"host":1})", R"({"host":"","rail":"","device":"","now":7})"}) {
    EXPECT_FALSE(rdma_sample_from_json(nlohmann::json::parse(text))) << text;
    EXPECT_FALSE(cabling_sample_from_json(nlohmann::json::parse(text))) << text;
  }
}

TEST(LinkCablingSample, SurvivesJson) {
  const CablingSample sample{
      .host = "n1", .rail = "rail0", .netdev = "ens1", .neighbours = {{"ens1", "leaf-a", "02", "Ethernet1"}}};
  const auto again = cabling_sample_from_json(to_json_value(sample));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->neighbours.at(0).chassis, "leaf-a");
}

}  // namespace
}  // namespace fabricgate::fabric
