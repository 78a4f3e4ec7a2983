#include "fabric/pairs/pair_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

PairSample full_sample() {
  PairSample sample{.a = "n1", .b = "n2", .rail = "rail0", .engine = "ucx-tcp", .mode = PairMode::alone};
  sample.a_to_b = {.sweep = {{.bytes = 4096, .bytes_per_s = 1.5e6, .messages = 9, .elapsed_s = 0.25}},
                   .payload_errors = 1,
                   .payload_checked = 8,
                   .segments = 40,
                   .retransmitted = 2,
                   .sent_cpu_s_per_byte = 1e-9,
                   .received_cpu_s_per_byte = 2e-9,
                   .longest_gap_s = 0.03,
                   .first_wrong = "message 3",
                   .error = "stopped"};
  sample.b_to_a.payload_checked = 4;
  sample.b_to_a_both.sweep = {{.bytes = 65536, .bytes_per_s = 1e6, .messages = 7, .elapsed_s = 0.25}};
  sample.flows_b_to_a = {.dialled = 64, .answered = 60, .late = 3, .segment_bytes = 8948, .first_lost = "from port 40123: no answer"};
  sample.latency_iterations = 100;
  sample.latency_p50_s = 1e-5;
  sample.latency_p99_s = 2e-5;
  sample.error = "set-up";
  sample.error_host = "n2";
  sample.rdma_skipped = "n1 declares none";
  sample.concurrent_pairs = 3;
  return sample;
}

TEST(PairSample, SurvivesTheWayThroughJson) {
  const auto json = to_json_value(full_sample());
  auto again = pair_sample_from_json(json);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_EQ(again->a_to_b.sweep.at(0).messages, 9u);
  EXPECT_EQ(again->a_to_b.first_wrong, "message 3");
  EXPECT_EQ(again->a_to_b.retransmitted, 2u);
  EXPECT_EQ(again->b_to_a_both.sweep.at(0).messages, 7u);
  EXPECT_EQ(again->flows_b_to_a.answered, 60u);
  EXPECT_EQ(again->flows_b_to_a.segment_bytes, 8948u);
  EXPECT_EQ(again->mode, PairMode::alone);
  EXPECT_EQ(again->a_to_b.received_cpu_s_per_byte, 2e-9);
  EXPECT_EQ(again->rdma_skipped, "n1 declares none");
}

TEST(PairSample, EveryMissingKeyIsAnErrorThatNamesIt) {
  const auto json = to_json_value(full_sample());
  for (const auto& [key, value] : json.items()) {
    auto without = json;
    without.erase(key);
    auto parsed = pair_sample_from_json(without);
    ASSERT_FALSE(parsed) << key;
    EXPECT_THAT(parsed.error().what, testing::HasSubstr(key));
  }
}

TEST(PairSample, AnUnknownModeOrAWrongTypeIsAnError) {
  auto json = to_json_value(full_sample());
  json["mode"] = "sometimes";
  EXPECT_THAT(pair_sample_from_json(json).error().what, testing::HasSubstr("sometimes"));
  json = to_json_value(full_sample());
  json["latency_p50_s"] = "fast";
  EXPECT_FALSE(pair_sample_from_json(json));
  EXPECT_FALSE(pair_sample_from_json(nlohmann::json::array()));
}

TEST(ReachSample, SurvivesTheWayThroughJson) {
  ReachSample sample{.a = "n1", .b = "n2"};
  sample.answers.push_back({.from = "n1", .from_rail = "r0", .to = "n2", .to_rail = "r1", .macs = {"aa", "bb"}});
  sample.answers.push_back({.from = "n1", .from_rail = "r0", .to = "n2", .to_rail = "r0", .macs = {"aa"}, .echo = true});
  sample.answers.back().next_hop = {.netdev = "eth1", .gateway = "10.0.0.9", .mac = "aa", .error = "none"};
  sample.answers.back().full_mtu = true;
  sample.answers.back().mtu_error = "none";
  sample.answers.back().frames = {.sent = 256, .received = 250, .repeated = 1, .dropped = 2, .error = ""};
  sample.answers.back().frames_alone.error = "not counted in time";
  sample.answers.push_back({.from = "n2", .from_rail = "r0", .to = "n1", .to_rail = "r1"});
  const auto json = to_json_value(sample);
  auto again = reach_sample_from_json(json);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(to_json_value(*again), json);
  EXPECT_EQ(again->answers.at(0).macs.size(), 2u);
  EXPECT_EQ(again->answers.at(1).frames.received, 250u);
  EXPECT_EQ(again->answers.at(1).next_hop.gateway, "10.0.0.9");
  EXPECT_EQ(again->answers.at(1).frames_alone.error, "not counted in time");
  EXPECT_EQ(again->answers.at(2).frames.sent, 0u);
  EXPECT_EQ(json.at("answers").size(), 2u);
  EXPECT_EQ(again->answers.at(2).from + again->answers.at(2).from_rail, "n2r0");
  EXPECT_EQ(again->answers.at(2).to + again->answers.at(2).to_rail, "n1r1");
  EXPECT_FALSE(reach_sample_from_json(nlohmann::json::object()));
}

TEST(ReachSample, ACountThatIsNoCountIsAnError) {
  ReachSample sample{.a = "n1", .b = "n2"};
  sample.answers.push_back({.from = "n1", .from_rail = "r0", .to = "n2", .to_rail = "r0"});
  sample.answers.back().frames.sent = 256;
  const auto json = to_json_value(sample);
  for (const char* key : {"sent", "received", "repeated", "dropped"})
    for (const nlohmann::json& wrong : {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json("x"), nlohmann::json()}) {
      auto bent = json;
      bent["answers"][0]["frames"][key] = wrong;
      EXPECT_FALSE(reach_sample_from_json(bent)) << key << " " << wrong.dump();
    }
}

}  // namespace
}  // namespace fabricgate::fabric
