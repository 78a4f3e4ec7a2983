#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/observe/facts.hpp"

namespace fabricgate {
namespace {

Facts some_facts() {
  Facts facts;
  facts.hostname = "n1";
  facts.memlock_soft_bytes = UINT64_MAX;
  facts.memory_bytes = std::int64_t{1} << 41;
  facts.pci.push_back(
      {.address = "0000:18:00.0", .vendor = "0x15b3", .path_speed = "16.0 GT/s PCIe", .numa_node = 1, .vfs = 8});
  facts.netdevs.push_back({.name = "ens1",
                           .carrier = true,
                           .speed_mbps = 400000,
                           .addresses = {"10.0.0.1/24"},
                           .counters = {{"rx_errors", 3}}});
  facts.rdma_ports.push_back({.device = "mlx5_0", .port = 1, .lid = 7, .counters = {{"symbol_error", 2}}});
  facts.sysctl["net.core.rmem_max"] = "1";
  facts.clock_unix_s = 1.7e9 + 0.25;
  facts.free_bytes["/opt"] = 5;
  facts.unread = {"pci: gone"};
  return facts;
}

TEST(FactsJson, FactsComeBackAsTheyWere) {
  const auto value = to_json_value(some_facts());
  auto read = facts_from_json(nlohmann::json::parse(value.dump()));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(to_json_value(*read), value);
  EXPECT_EQ(read->memlock_soft_bytes, UINT64_MAX);
  EXPECT_EQ(read->clock_unix_s, some_facts().clock_unix_s);
  EXPECT_EQ(read->netdevs.at(0).counters.at("rx_errors"), 3);
}

TEST(FactsJson, EveryMissingKeyIsAnErrorThatNamesIt) {
  const auto whole = to_json_value(some_facts());
  for (const auto& [key, unused] : whole.items()) {
    auto broken = whole;
    broken.erase(key);
    auto read = facts_from_json(broken);
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().what, testing::HasSubstr(key));
  }
}

TEST(FactsJson, GarbageIsAnError) {
  for (const char* text : {"null", "7", "[]", "{}", "\"x\"", R"({"hostname":1})"})
    EXPECT_FALSE(facts_from_json(nlohmann::json::parse(text))) << text;
  auto wrong = to_json_value(some_facts());
  wrong["pci"] = "none";
  EXPECT_FALSE(facts_from_json(wrong));
}

}  // namespace
}  // namespace fabricgate
