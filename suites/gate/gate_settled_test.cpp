/// Loss of TCP segments and half duplex: what is seen alone is blamed, what is seen with others running warns.
#include "suites/gate/gate_testing.hpp"

#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Spoil = std::function<void(nlohmann::json& sample)>;

void half(nlohmann::json& sample) {
  for (const char* direction : {"a_to_b", "b_to_a"}) slow_down(sample["both"][direction], 0.51);
}

void send_again(nlohmann::json& sample) {
  for (const char* direction : {"a_to_b", "b_to_a"}) sample[direction]["retransmitted"] = 400;  // 1 %
}

/// n0003's rail1 with all its partners: as planned, then alone.
GoodRun with(const Spoil& together, const Spoil& alone) {
  GoodRun run = good_run();
  std::vector<Record> repeated;
  for (Record& record : run.records) {
    if (record.check != "pair.rail" || record.rail != "rail1" || !about(record, "n0003")) continue;
    Record again = record;
    together(record.sample);
    record = judged({run.inventory, run.limits}, record);
    again.attempt = 1;
    again.sample["mode"] = "alone";
    alone(again.sample);
    repeated.push_back(judged({run.inventory, run.limits}, again));
  }
  run.records.insert(run.records.end(), repeated.begin(), repeated.end());
  return run;
}

TEST(GateSettled, ARailThatIsHalfDuplexAloneTooIsNamedForThat) {
  const GoodRun run = with(half, half);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.half_duplex n0003 rail1")));
  EXPECT_THAT(said(result), HasSubstr("51% of the sum"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateSettled, ARailThatLosesTcpSegmentsAloneTooIsNamedForThat) {
  const GoodRun run = with(send_again, send_again);
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.packet_loss n0003 rail1")));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateSettled, WhatIsGoneAloneIsAWarning) {
  for (const Spoil& spoil : {Spoil(half), Spoil(send_again)}) {
    const GoodRun run = with(spoil, [](nlohmann::json&) {});
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.text, "READY (emulated)") << said(result);
    EXPECT_EQ(result.verdict, Verdict::warn);
    EXPECT_THAT(blamed(result), ElementsAre());
    ASSERT_EQ(result.nodes[2].findings.size(), 1U) << "once for all its partners, and not by what it looked like";
    EXPECT_TRUE(result.findings.empty());
    EXPECT_EQ(result.nodes[2].findings[0].cause, "pair.unstable");
    EXPECT_THAT(result.nodes[2].findings[0].found, HasSubstr("in 1 of 2 measurements"));
  }
}

TEST(GateSettled, ASlowDirectionIsNotCalledHalfDuplex) {
  const Spoil slow = [](nlohmann::json& sample) {
    for (const char* direction : {"a_to_b", "b_to_a"}) {
      slow_down(sample[direction], 0.5);
      slow_down(sample["both"][direction], 0.5);
    }
  };
  const GoodRun run = with(slow, slow);
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre(StartsWith("pair.rail_slow n0003 rail1")));
}

TEST(GateSettled, BothDirectionsAtOnceMustBeMeasured) {
  const Spoil none = [](nlohmann::json& sample) { sample["both"] = nullptr; };
  const GoodRun run = with(none, none);
  expect_shut(judge(run, run.text()), "no figure of both directions");
}

}  // namespace
}  // namespace fabricgate::suites
