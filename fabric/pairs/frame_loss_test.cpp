#include "fabric/pairs/frame_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr LossLimits limits{.share = 0.001, .frames = 200};

FrameCount train(std::uint64_t sent, std::uint64_t lost, std::uint64_t dropped = 0) {
  return {.sent = sent, .received = sent - lost, .repeated = 0, .dropped = dropped, .error = ""};
}
LossClass of(const FrameCount& frames, const FrameCount& alone = {}) {
  return loss_of({.frames = frames, .frames_alone = alone}, limits).result;
}

TEST(FrameLoss, AShortTrainAloneTellsCleanAndPlainlyLossy) {
  EXPECT_EQ(of(train(256, 0)), LossClass::clean);
  EXPECT_EQ(of(train(256, 1)), LossClass::undecided);
  EXPECT_EQ(of(train(256, 2)), LossClass::lossy);
  EXPECT_EQ(of(train(256, 256)), LossClass::silent);
  EXPECT_DOUBLE_EQ(loss_of({.frames = train(256, 16)}, limits).share, 1.0 / 16);
}

TEST(FrameLoss, ALongerTrainDecides) {
  EXPECT_EQ(of(train(256, 1), train(2048, 0)), LossClass::seen);
  EXPECT_EQ(of(train(256, 1), train(2048, 2)), LossClass::seen);
  EXPECT_EQ(of(train(256, 1), train(2048, 3)), LossClass::lossy);
  EXPECT_EQ(of(train(256, 0), train(2048, 0)), LossClass::clean);
  EXPECT_EQ(of(train(256, 0), train(2048, 20)), LossClass::lossy);
  EXPECT_EQ(of(train(256, 9), train(2048, 0)), LossClass::wavering);
  const Loss loss = loss_of({.frames = train(256, 12), .frames_alone = train(2048, 100)}, limits);
  EXPECT_TRUE(loss.alone);
  EXPECT_EQ(loss.frames, 2048u);
  EXPECT_THAT(loss.text, HasSubstr("100 of 2048"));
}

TEST(FrameLoss, WhatTheReceivingHostThrewAwayIsNotBlamedOnTheWire) {
  EXPECT_EQ(of(train(256, 20, 20)), LossClass::clouded);
  EXPECT_EQ(of(train(256, 20, 500)), LossClass::clouded);
  EXPECT_EQ(of(train(256, 20, 19)), LossClass::clouded);
  EXPECT_EQ(of(train(256, 20, 5)), LossClass::lossy);
  EXPECT_EQ(of(train(256, 256, 256)), LossClass::clouded);
  EXPECT_EQ(of(train(256, 0, 7)), LossClass::clean);
}

TEST(FrameLoss, WhatWasNotCountedIsNotClean) {
  EXPECT_EQ(of({}), LossClass::unmeasured);
  EXPECT_EQ(of({.error = "no socket"}), LossClass::unmeasured);
  EXPECT_THAT(loss_of({.frames = {.error = "no socket"}}, limits).text, HasSubstr("no socket"));
  EXPECT_EQ(of(train(100, 0)), LossClass::unmeasured);
  EXPECT_EQ(of(train(100, 50)), LossClass::lossy);
  EXPECT_EQ(of({.sent = 256, .received = 257}), LossClass::unmeasured);
  EXPECT_EQ(of(train(256, 1), {.error = "not in time"}), LossClass::undecided);
  EXPECT_EQ(of(train(256, 1), train(100, 0)), LossClass::unmeasured);
}

ReachSample pair() {
  ReachSample sample{.a = "n1", .b = "n2"};
  for (const auto& [from, to] : {std::pair{"n1", "n2"}, std::pair{"n2", "n1"}})
    for (const char* rail : {"r0", "r1"})
      sample.answers.push_back(
          {.from = from, .from_rail = rail, .to = to, .to_rail = rail, .macs = {"aa"}, .full_mtu = true});
  return sample;
}

TEST(FrameLoss, SegmentsSentAgainAreLossWhenTheyAreMoreThanAnAccident) {
  const auto share = [](std::uint64_t segments, std::uint64_t again) {
    return retransmitted({.segments = segments, .retransmitted = again}, 0.005).value_or(-1);
  };
  EXPECT_DOUBLE_EQ(share(2000, 20), 0.01);
  EXPECT_EQ(share(2000, 10), -1) << "at the limit";
  EXPECT_EQ(share(200, 4), -1) << "too few to be a rate";
  EXPECT_EQ(share(0, 0), -1) << "not told";
  EXPECT_EQ(share(10, 20), -1) << "numbers that cannot be";
}

TEST(FrameLoss, OnlyRailsWithoutAnotherFaultAreCounted) {
  EXPECT_THAT(countable_rails(pair()), ElementsAre("r0", "r1"));
  for (const std::size_t answer : {std::size_t{0}, std::size_t{2}}) {  // r0, each way
    ReachSample sample = pair();
    sample.answers[answer].macs.clear();
    EXPECT_THAT(countable_rails(sample), ElementsAre("r1"));
    sample = pair();
    sample.answers[answer].macs.push_back("bb");
    EXPECT_THAT(countable_rails(sample), ElementsAre("r1"));
    sample = pair();
    sample.answers[answer].full_mtu = false;
    EXPECT_THAT(countable_rails(sample), ElementsAre("r1"));
    sample = pair();
    sample.answers[answer].error = "interface down";
    EXPECT_THAT(countable_rails(sample), ElementsAre("r1"));
  }
}

TEST(FrameLoss, AnyLostFrameMakesASuspectAndSilenceNone) {
  EXPECT_EQ(suspicion({.frames = train(256, 0)}), PathClass::good);
  EXPECT_EQ(suspicion({.frames = train(256, 1, 1)}), PathClass::bad);
  EXPECT_EQ(suspicion({.frames = train(256, 256)}), PathClass::unmeasured);
  EXPECT_EQ(suspicion({}), PathClass::unmeasured);
}

/// Four nodes, one rail; `share` lost on what `node` sends, and receives when `both`. Pairs in `alone` have the long
/// train.
std::vector<LossPath> paths_of(double share, int node, bool both, const std::set<std::pair<int, int>>& alone) {
  std::vector<LossPath> out;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      const bool longer = alone.count({std::min(from, to), std::max(from, to)}) > 0;
      const bool hit = from == node || (both && to == node);
      const std::uint64_t frames = longer ? 2048 : 256;
      const auto lost = static_cast<std::uint64_t>(hit ? share * static_cast<double>(frames) : 0);
      ReachAnswer answer;
      (longer ? answer.frames_alone : answer.frames) = train(frames, lost);
      if (longer) answer.frames = train(256, 0);
      out.push_back(loss_path({.from = from, .to = to}, loss_of(answer, limits)));
    }
  return out;
}

std::vector<Finding> located(const std::vector<LossPath>& paths) {
  Observation observation{.nodes = {"n0", "n1", "n2", "n3"}, .rails = {"r0"}, .paths = weigh(paths)};
  observation.loss_ceiling = limits.share;
  return findings(localise(observation), observation);
}

TEST(FrameLoss, ALossyRailIsNamedWithItsNodeAndDirection) {
  for (const bool both : {true, false}) {
    const auto list = located(paths_of(0.05, 1, both, {{0, 1}, {1, 2}, {1, 3}}));
    ASSERT_THAT(list, SizeIs(1));
    EXPECT_EQ(list[0].cause, "pair.packet_loss");
    EXPECT_EQ(list[0].verdict, Verdict::fail);
    EXPECT_EQ(list[0].subject.host, "n1");
    EXPECT_EQ(list[0].subject.direction, both ? "" : "tx");
    EXPECT_EQ(list[0].expected, "at most 0.1% of frames lost");
    EXPECT_THAT(list[0].found, HasSubstr("median 5% of frames lost"));
  }
}

TEST(FrameLoss, AShortCleanTrainDoesNotClearAnEndThatLosesFewFrames) {
  // 0.3 % of 256 frames is none: the pair of 1 and 3 looks clean, the long trains of the others know better
  const auto list = located(paths_of(0.003, 1, false, {{0, 1}, {1, 2}}));
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].cause, "pair.packet_loss");
  EXPECT_EQ(list[0].verdict, Verdict::fail);
  EXPECT_EQ(list[0].subject.host, "n1");
  EXPECT_EQ(list[0].subject.direction, "tx");
}

TEST(FrameLoss, CleanTrainsGiveNoFinding) {
  EXPECT_THAT(located(paths_of(0, 1, true, {})), IsEmpty());
  EXPECT_THAT(located(paths_of(0, 1, true, {{0, 1}})), IsEmpty());
}

TEST(FrameLoss, WhatIsNotDecidedIsNoEvidenceOfAPath) {
  for (const LossClass result :
       {LossClass::wavering, LossClass::undecided, LossClass::clouded, LossClass::silent, LossClass::unmeasured})
    EXPECT_EQ(loss_path({.from = 0, .to = 1}, {.result = result, .frames = 256}).path.result, PathClass::unmeasured);
}

}  // namespace
}  // namespace fabricgate::fabric
