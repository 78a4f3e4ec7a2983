/// Many short TCP connections of a rail: an end that takes none, connections that are lost and segments that are small
/// close the gate although every rate is good, and are blamed on the part they are of.
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Spoil = std::function<void(const Record& record, json& sample)>;

/// Rail1 of every pair as `planned` makes it, and that of n0003's pairs measured alone as `alone` does.
GoodRun with(const Spoil& planned, const Spoil& alone, const GoodRunShape& shape = {}) {
  GoodRun run = good_run(shape);
  std::vector<Record> repeated;
  for (Record& record : run.records) {
    if (record.check != "pair.rail" || record.rail != "rail1") continue;
    Record again = record;
    planned(record, record.sample);
    record = judged({run.inventory, run.limits}, record);
    if (!about(record, "n0003")) continue;
    again.attempt = 1;
    again.sample["mode"] = "alone";
    alone(again, again.sample);
    repeated.push_back(judged({run.inventory, run.limits}, again));
  }
  run.records.insert(run.records.end(), repeated.begin(), repeated.end());
  return run;
}

/// n0003 takes no connection of anybody.
void deaf(const Record& record, json& sample) {
  if (!about(record, "n0003")) return;
  json& flows = sample["flows"][record.hosts[0] == "n0003" ? "b_to_a" : "a_to_b"];
  flows["answered"] = flows["late"] = flows["segment_bytes"] = flows["whole"] = 0;
  flows["usual_s"] = flows["slowest_s"] = 0;
  flows["first_lost"] = "from port 40001: no answer in 3.5 s";
  for (const char* direction : {"a_to_b", "b_to_a"}) {
    sample[direction]["sweep"] = json::array();
    sample[direction]["error"] = "not streamed over";
  }
}

void lose(json& sample, const char* direction, int count) {
  sample["flows"][direction]["answered"] = sample["flows"][direction]["whole"] = 64 - count;
  sample["flows"][direction]["first_lost"] = "from port 40001: no answer in 3.5 s";
}

/// One member of n0003's bond is dead; how many connections meet it is chance.
void dead_member(const Record& record, json& sample) {
  if (about(record, "n0003")) lose(sample, "a_to_b", 4);
}

/// What n0003 sends, its peers' clamp keeps small.
void clamped(const Record& record, json& sample) {
  if (about(record, "n0003")) sample["flows"][record.hosts[0] == "n0003" ? "a_to_b" : "b_to_a"]["segment_bytes"] = 588;
}

void nothing(const Record&, json&) {}

TEST(GateFlows, ANodeThatTakesNoConnectionIsNamedAlthoughItOpensItsOwn) {
  const GoodRun run = with(deaf, deaf);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre("pair.unreachable n0003 rail1 (fab1) rx")) << said(result);
  EXPECT_THAT(said(result), HasSubstr("connections to it are not answered, those it opens are"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateFlows, ConnectionsThatAreLostAreBlamedOnTheRailTheyShareAndStayWhenRepetitionsMeetNone) {
  for (const Spoil& alone : {Spoil(dead_member), Spoil(nothing)}) {
    const GoodRun run = with(dead_member, alone);
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.text, "NOT READY");
    EXPECT_THAT(blamed(result), ElementsAre("pair.flows_lost n0003 rail1 (fab1)")) << said(result);
    EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
  }
}

TEST(GateFlows, APairThatLosesConnectionsAloneIsNoContention) {
  const Spoil pair = [](const Record& record, json& sample) {
    if (about(record, "n0001") && about(record, "n0002")) lose(sample, "b_to_a", 1);
  };
  const GoodRun run = with(pair, nothing);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.flows_lost n0001"))) << said(result);
}

TEST(GateFlows, SmallSegmentsAreBlamedOnTheRailThatSendsThem) {
  const GoodRun run = with(clamped, clamped);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre("pair.segment_small n0003 rail1 (fab1) tx")) << said(result);
  EXPECT_THAT(said(result), HasSubstr("588 bytes"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateFlows, ASegmentHasRoomForHeadersAndTimestampsAndForNothingElse) {
  const auto text_of = [](int bytes) {
    const auto all = [bytes](const Record&, json& sample) {
      for (const char* direction : {"a_to_b", "b_to_a"}) sample["flows"][direction]["segment_bytes"] = bytes;
    };
    const GoodRun run = with(all, all);
    return judge(run, run.text()).text;
  };
  EXPECT_EQ(text_of(1500 - 40), "READY (emulated)") << "without timestamps";
  EXPECT_EQ(text_of(1500 - 52), "READY (emulated)");
  EXPECT_EQ(text_of(1500 - 53), "NOT READY");
  EXPECT_THAT(text_of(1500 - 39), HasSubstr("INCONCLUSIVE")) << "of an MTU that is not the declared one";
}

TEST(GateFlows, ConnectionsThatWereNotDialledNotCountedOrOfAnotherNumberAreNoEvidence) {
  const std::vector<Spoil> spoils{
      [](const Record&, json& sample) { sample["flows"] = nullptr; },
      [](const Record&, json& sample) { sample["flows"]["a_to_b"]["dialled"] = 0; },
      [](const Record&, json& sample) {
        sample["flows"]["a_to_b"]["dialled"] = sample["flows"]["a_to_b"]["answered"] = 1;
      },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["error"] = "socket: too many open files"; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["answered"] = 65; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["late"] = 65; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["first_lost"] = "from port 1: no answer"; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["segment_bytes"] = 0; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["whole"] = 63; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["blocked"] = 1; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["first_blocked"] = "from port 1: none"; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["usual_s"] = 0; },
      [](const Record&, json& sample) { sample["flows"]["b_to_a"]["slowest_s"] = 0.001; }};
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    const GoodRun run = with(spoils[i], spoils[i]);
    expect_shut(judge(run, run.text()), std::to_string(i));
  }
}

/// n0003's connections show this in both its counts of every pair.
Spoil at_n0003(const json& found) {
  return [found](const Record& record, json& sample) {
    if (about(record, "n0003"))
      for (const char* direction : {"a_to_b", "b_to_a"}) sample["flows"][direction].update(found);
  };
}

const json blocked = {{"whole", 60}, {"blocked", 4}, {"first_blocked", "from port 40001: no full-size segment came there in 2 s"}};
const json slow = {{"slowest_s", 0.13}};
const json many_late = {{"late", 19}};

TEST(GateFlows, ConnectionsThatCarrySmallPacketsAloneAreBlamedOnTheRailTheyShareWhateverRepetitionsGive) {
  for (const Spoil& alone : {at_n0003(blocked), Spoil(nothing)}) {
    const GoodRun run = with(at_n0003(blocked), alone);
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.text, "NOT READY");
    EXPECT_THAT(blamed(result), ElementsAre("pair.mtu_path n0003 rail1 (fab1)")) << said(result);
    EXPECT_THAT(said(result), HasSubstr("6.2% of connections carry no full-size segment"));
    EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
  }
}

TEST(GateFlows, AConnectionThatIsFarSlowerAloneTooIsBlamedOnTheRailItShares) {
  const GoodRun run = with(at_n0003(slow), at_n0003(slow));
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre("pair.flow_slow n0003 rail1 (fab1)")) << said(result);
  EXPECT_THAT(said(result), HasSubstr("65 times"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateFlows, ConnectionsThatComeLateOnAllPairsOfARailAloneTooAreBlamedOnIt) {
  const GoodRun run = with(at_n0003(many_late), at_n0003(many_late));
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre("pair.flows_late n0003 rail1 (fab1)")) << said(result);
  EXPECT_EQ(result.nodes[2].findings.size() + result.findings.size(), 1U) << said(result);
}

TEST(GateFlows, APairThatLosesOneOfManyLateConnectionsIsNotBlamedForItsNode) {
  const Spoil lossy = [](const Record& record, json& sample) {
    at_n0003(many_late)(record, sample);
    if (about(record, "n0003") && about(record, "n0001")) lose(sample, "a_to_b", 1);
  };
  const GoodRun run = with(lossy, at_n0003(many_late));
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.flows_late n0003 rail1 (fab1)")) << said(result);
}

TEST(GateFlows, WhatIsSlowOrLateWithOthersRunningAloneIsAWarning) {
  for (const json& found : {slow, many_late}) {
    const GoodRun run = with(at_n0003(found), nothing);
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.text, "READY (emulated)") << said(result);
    EXPECT_EQ(result.verdict, Verdict::warn);
  }
}

TEST(GateFlows, NoRatioIsLookedAtBelowWhatAProcessWaitsForItsTurn) {
  const json quick = {{"usual_s", 0.0005}, {"slowest_s", 0.029}};
  const GoodRun run = with(at_n0003(quick), at_n0003(quick));
  EXPECT_EQ(judge(run, run.text()).verdict, Verdict::pass);
}

TEST(GateFlows, ConnectionsThatComeLateAreAWarningFromTheThirdOn) {
  for (const int late : {2, 3}) {
    GoodRun run = good_run();
    change(run, "pair.rail", [&](Record& record) {
      if (!about(record, "n0003") || record.rail != "rail1") return false;
      record.sample["flows"]["a_to_b"]["late"] = late;
      return true;
    });
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.text, "READY (emulated)") << said(result);
    EXPECT_TRUE(result.findings.empty());
    ASSERT_EQ(result.nodes[2].findings.size(), late > 2 ? 1U : 0U);
    for (const Finding& finding : result.nodes[2].findings) EXPECT_EQ(finding.cause, "pair.flows_late");
  }
}

}  // namespace
}  // namespace fabricgate::suites
