#include "launch/accept/frame_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> hosts{"n1", "n2", "n3", "n4"};

/// All pairs of the hosts on two rails, everything reached.
ReachSamples all_pairs() {
  ReachSamples out;
  for (std::size_t a = 0; a < hosts.size(); ++a)
    for (std::size_t b = a + 1; b < hosts.size(); ++b) {
      fabric::ReachSample sample{.a = hosts[a], .b = hosts[b], .answers = {}};
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
        for (const char* rail : {"r0", "r1"})
          sample.answers.push_back({.from = hosts[from],
                                    .from_rail = rail,
                                    .to = hosts[to],
                                    .to_rail = rail,
                                    .macs = {"aa"},
                                    .full_mtu = true});
      out[{hosts[a], hosts[b]}] = std::move(sample);
    }
  return out;
}

void count_all(ReachSamples& samples, const std::string& lossy_sender) {
  for (auto& [pair, sample] : samples)
    for (fabric::ReachAnswer& answer : sample.answers)
      answer.frames = {.sent = 256, .received = answer.from == lossy_sender && answer.from_rail == "r1" ? 250U : 256U};
}

fabric::TrainHalf half(const std::string& peer, std::uint64_t sent, std::uint64_t received,
                       const std::string& error = "") {
  return {.peer = peer, .rail = "r0", .sent = sent, .received = received, .repeated = 0, .dropped = 3, .error = error};
}
const FrameOrder one_pair{.frames = 256, .rounds = {{{"n1", "n2", {"r0"}}}}};

TEST(FramePlan, EveryPairCountsOnceOnTheRailsThatWereReached) {
  ReachSamples samples = all_pairs();
  samples[{"n1", "n2"}].answers[0].macs.clear();  // r0
  for (auto& answer : samples[{"n3", "n4"}].answers) answer.full_mtu = false;
  const FrameOrder order =
      first_trains({{{"n1", "n2"}, {"n3", "n4"}}, {{"n3", "n4"}}, {{"n1", "n3"}, {"n2", "n4"}}}, samples, 256);
  ASSERT_THAT(order.rounds, SizeIs(2));
  ASSERT_THAT(order.rounds[0], SizeIs(1));
  EXPECT_EQ(order.rounds[0][0].b, "n2");
  EXPECT_THAT(order.rounds[0][0].rails, ElementsAre("r1"));
  ASSERT_THAT(order.rounds[1], SizeIs(2));
  EXPECT_THAT(order.rounds[1][1].rails, ElementsAre("r0", "r1"));
}

TEST(FramePlan, NobodyCountsAgainWhenNothingWasLost) {
  ReachSamples samples = all_pairs();
  count_all(samples, "");
  EXPECT_THAT(longer_trains(hosts, samples, 256).rounds, IsEmpty());
}

TEST(FramePlan, ALossyEndCountsLongerAloneOnThatRail) {
  ReachSamples samples = all_pairs();
  count_all(samples, "n2");
  const FrameOrder order = longer_trains(hosts, samples, 256);
  std::size_t pairs = 0;
  for (const FrameRound& round : order.rounds)
    for (const FrameTask& task : round) {
      ++pairs;
      EXPECT_TRUE(task.a == "n2" || task.b == "n2") << task.a << " " << task.b;
      EXPECT_THAT(task.rails, ElementsAre("r1"));
    }
  EXPECT_EQ(pairs, 3u);
  EXPECT_EQ(order.frames, 2048u);
  EXPECT_EQ(longer_trains(hosts, samples, 2048).frames, 4096u);
}

TEST(FramePlan, AFirstTrainTakesATenthOfASecondOnTheSlowestRailAndIsNeverTooShortToTell) {
  const auto frames_at = [](double rate, double other = 1e12) {
    auto spec = std::make_shared<NodeClass>();
    spec->rails = {{.name = "r0", .rate_bits_per_s = rate, .mtu = 9000}, {.name = "r1", .rate_bits_per_s = other, .mtu = 9000}};
    Inventory inventory;
    inventory.nodes.push_back({.name = "n1", .spec = spec});
    return first_frames(inventory);
  };
  EXPECT_EQ(frames_at(400e9), 2048u);
  EXPECT_EQ(frames_at(1e9), 1388u);
  EXPECT_EQ(frames_at(400e9, 1e9), 1388u);
  EXPECT_EQ(frames_at(10e6), 256u);
  EXPECT_EQ(first_frames({}), 2048u);
}

TEST(FramePlan, TheSendersCountMeetsTheReceivers) {
  ReachSamples samples = all_pairs();
  merge_halves(one_pair, {{"n1", {half("n2", 256, 255)}}, {"n2", {half("n1", 200, 240)}}}, false, samples);
  const auto& answers = samples[{"n1", "n2"}].answers;
  EXPECT_EQ(answers[0].frames.sent, 256u);  // n1 to n2 on r0
  EXPECT_EQ(answers[0].frames.received, 240u);
  EXPECT_EQ(answers[0].frames.dropped, 3u);
  EXPECT_EQ(answers[2].frames.sent, 200u);  // n2 to n1 on r0
  EXPECT_EQ(answers[2].frames.received, 255u);
  EXPECT_EQ(answers[1].frames.sent, 0u);  // r1 was not asked for
  EXPECT_EQ(answers[0].frames_alone.sent, 0u);
  merge_halves(one_pair, {{"n1", {half("n2", 2048, 2048)}}, {"n2", {half("n1", 2048, 2000)}}}, true, samples);
  EXPECT_EQ(answers[0].frames_alone.received, 2000u);
  EXPECT_EQ(answers[0].frames.received, 240u);
}

TEST(FramePlan, AHalfThatIsMissingOrFailedIsAnErrorThatNamesItsNode) {
  const auto error_of = [](const std::map<std::string, std::vector<fabric::TrainHalf>>& halves) {
    ReachSamples samples = all_pairs();
    merge_halves(one_pair, halves, false, samples);
    const fabric::FrameCount& count = samples[{"n1", "n2"}].answers[0].frames;
    EXPECT_EQ(count.sent, 0u);
    return count.error;
  };
  EXPECT_THAT(error_of({}), HasSubstr("n1"));
  EXPECT_THAT(error_of({{"n1", {half("n2", 256, 256)}}}), HasSubstr("n2"));
  EXPECT_THAT(error_of({{"n1", {half("n2", 256, 256)}}, {"n2", {half("n1", 0, 0, "no socket")}}}),
              HasSubstr("n2: no socket"));
  EXPECT_THAT(error_of({{"n1", {half("n2", 0, 256)}}, {"n2", {half("n1", 256, 256)}}}), HasSubstr("n1 sent no frame"));
}

TEST(FramePlan, OrdersAndHalvesSurviveTheWayThroughJson) {
  const auto json = to_json_value(one_pair);
  EXPECT_EQ(to_json_value(frame_order_from(json)), json);
  const std::vector<fabric::TrainHalf> halves{half("n2", 1, 2, "x")};
  EXPECT_EQ(to_json_value(halves_from(to_json_value(halves))), to_json_value(halves));
}

}  // namespace
}  // namespace fabricgate::launch
