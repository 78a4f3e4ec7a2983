#include "fabric/verbs/verbs_sample.hpp"

#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

VerbsSample full() {
  const VerbsEnd end{"mlx5_0", 1, "Ethernet", 5, "0000:0000:0000:0000:0000:ffff:0a01:0002", 4096, "host memory"};
  const VerbsFlow flow{1.5e9, 1000, 0.25, 0.125, 64, 1, "qp 0, slot 1, byte 2: expected 0x01, found 0x02"};
  return {.a = "n1",
          .b = "n2",
          .rail = "rail0",
          .mode = PairMode::alone,
          .concurrent_pairs = 3,
          .a_end = end,
          .b_end = end,
          .path_mtu_bytes = 1024,
          .rates = {{Operation::write_imm, 65536, 4, true, flow, {}}},
          .latencies = {{Operation::send, 2, 900, 1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6, 7e-6}},
          .failure = {"n1", "rdma.not_acknowledged", "work completion", "write, 64 bytes, 1 qp", 12, 129, 99}};
}

TEST(VerbsSample, GoesThroughJsonWhole) {
  const auto value = to_json_value(full());
  const auto back = verbs_sample_from_json(value);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(to_json_value(*back), value);
  EXPECT_EQ(back->failure, full().failure);
  EXPECT_EQ(back->mode, PairMode::alone);
  EXPECT_EQ(back->rates[0].a_to_b.first_wrong, full().rates[0].a_to_b.first_wrong);
}

TEST(VerbsSample, EveryKeyIsRequired) {
  const auto whole = to_json_value(full());
  for (const auto& item : whole.items()) {
    auto cut = whole;
    cut.erase(item.key());
    EXPECT_FALSE(verbs_sample_from_json(cut)) << item.key();
  }
  auto strange = whole;
  strange["rates"][0]["operation"] = "atomic";
  EXPECT_FALSE(verbs_sample_from_json(strange));
  strange = whole;
  strange["mode"] = "sometimes";
  EXPECT_FALSE(verbs_sample_from_json(strange));
  strange = whole;
  strange["latencies"][0]["iterations"] = 1.5;
  EXPECT_FALSE(verbs_sample_from_json(strange));
}

}  // namespace
}  // namespace fabricgate::fabric
