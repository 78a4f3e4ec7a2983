/// A node that freezes is told from rails that are slow for a moment, silence from half duplex, and many warnings of
/// one node are one.
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

void pause(json& sample, double seconds) {
  for (json* direction : {&sample["a_to_b"], &sample["b_to_a"], &sample["both"]["a_to_b"], &sample["both"]["b_to_a"]})
    (*direction)["longest_gap_s"] = seconds;
}

/// Measurements of pair.rail for which `which` says so, changed by `spoil`.
GoodRun with(const std::function<bool(const Record&)>& which, const std::function<void(json&)>& spoil) {
  GoodRun run = good_run();
  change(run, "pair.rail", [&](Record& record) {
    if (!which(record)) return false;
    spoil(record.sample);
    return true;
  });
  return run;
}

GateResult judged_with(const std::function<bool(const Record&)>& which, const std::function<void(json&)>& spoil) {
  const GoodRun run = with(which, spoil);
  return judge(run, run.text());
}

bool of_n0003(const Record& record) {
  return about(record, "n0003");
}

TEST(GateStalls, ANodeWhoseMeasurementsAllPauseIsNamedOnceThoughEveryRateIsGood) {
  const GateResult result = judged_with(of_n0003, [](json& sample) { pause(sample, 0.6); });
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre("pair.stalls n0003")) << said(result);
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
  EXPECT_THAT(said(result), HasSubstr("600.00 ms")) << said(result);
}

TEST(GateStalls, WhatIsSlowAtANodeThatFreezesIsNotToldAgainForItsPairs) {
  const GateResult result = judged_with(of_n0003, [](json& sample) {
    pause(sample, 0.6);
    slow_down(sample["a_to_b"], 0.7);
  });
  EXPECT_THAT(blamed(result), ElementsAre("pair.stalls n0003")) << said(result);
}

TEST(GateStalls, PausesOfOneRailOfAllNodesShortOnesAndThoseAfterALossNameNoNode) {
  const auto all = [](const Record&) { return true; };
  const auto one_rail = [](const Record& record) { return of_n0003(record) && record.rail == "rail1"; };
  const auto two_partners = [](const Record& record) { return of_n0003(record) && !about(record, "n0001"); };
  const auto long_one = [](json& sample) { pause(sample, 0.6); };
  const auto lossy = [](json& sample) {
    pause(sample, 0.6);
    for (const char* direction : {"a_to_b", "b_to_a"}) sample[direction]["retransmitted"] = 400;
    for (const char* direction : {"a_to_b", "b_to_a"})
      sample["both"][direction]["segments"] = 40000, sample["both"][direction]["retransmitted"] = 400;
  };
  for (const GateResult& result :
       {judged_with(all, long_one), judged_with(one_rail, long_one), judged_with(two_partners, long_one),
        judged_with(of_n0003, [](json& sample) { pause(sample, 0.25); }), judged_with(of_n0003, lossy)})
    EXPECT_THAT(said(result), Not(HasSubstr("pair.stalls"))) << said(result);
}

TEST(GateStalls, SilenceWithBothDirectionsIsNotHalfDuplex) {
  const auto silent = [](json& sample) {
    for (const char* direction : {"a_to_b", "b_to_a"}) {
      json& one = sample["both"][direction];
      slow_down(one, 0.5);
      one["longest_gap_s"] = one["sweep"].back()["elapsed_s"].get<double>() * 0.5;
    }
  };
  for (const bool alone : {false, true}) {
    GoodRun run = with([](const Record& record) { return of_n0003(record) && record.rail == "rail1"; }, silent);
    const std::vector<Record> planned = run.records;
    for (Record again : planned) {
      if (!alone || again.check != "pair.rail" || again.rail != "rail1" || !of_n0003(again)) continue;
      again.attempt = 1;
      again.sample["mode"] = "alone";
      run.records.push_back(judged({run.inventory, run.limits}, again));
    }
    const GateResult result = judge(run, run.text());
    EXPECT_THAT(said(result), Not(HasSubstr("half_duplex")));
    EXPECT_EQ(result.text, alone ? "NOT READY" : "READY (emulated)");
    const auto wanted = alone ? std::vector<std::string>{"pair.stalls n0003 rail1 (fab1)"} : std::vector<std::string>{};
    EXPECT_EQ(blamed(result), wanted) << said(result);
  }
}

TEST(GateStalls, WarningsThatANodeHasWithMostOfItsPartnersAreOneOfTheNode) {
  const auto late = [](json& sample) { sample["flows"]["a_to_b"]["late"] = 3; };
  const GateResult all = judged_with(of_n0003, late);
  EXPECT_EQ(all.verdict, Verdict::warn);
  EXPECT_TRUE(all.findings.empty()) << said(all);
  ASSERT_EQ(all.nodes[2].findings.size(), 1U) << said(all);
  EXPECT_EQ(to_string(all.nodes[2].findings[0].subject), "n0003");
  EXPECT_EQ(all.nodes[2].findings[0].evidence.size(), 6U);
  const GateResult one_rail =
      judged_with([](const Record& record) { return of_n0003(record) && record.rail == "rail1"; }, late);
  ASSERT_EQ(one_rail.nodes[2].findings.size(), 1U) << said(one_rail);
  EXPECT_EQ(one_rail.nodes[2].findings[0].subject.rail, "rail1");
  const GateResult pair =
      judged_with([](const Record& record) { return of_n0003(record) && about(record, "n0001"); }, late);
  EXPECT_EQ(pair.findings.size(), 2U) << "a pair has two ends, and neither is the one";
}

}  // namespace
}  // namespace fabricgate::suites
