/// Frames lost on a rail, put into a good run of four nodes and two rails: who is blamed, and when nobody is.
#include <algorithm>
#include <functional>

#include "suites/check.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// Edits the answer of each counted direction of a rail: from, to, answer.
void edit_answers(GoodRun& run, const std::string& rail,
                  const std::function<void(const std::string&, const std::string&, json&)>& edit) {
  for (Record& record : run.records) {
    if (record.check != "pair.reach") continue;
    for (json& answer : record.sample["answers"])
      if (answer["from_rail"] == rail && answer["to_rail"] == rail) edit(answer["from"], answer["to"], answer);
    record = judged({run.inventory, run.limits}, record);
  }
}

void lose(json& answer, int of_short, int of_long = -1, int dropped = 0) {
  answer["frames"] = {
      {"sent", 256}, {"received", 256 - of_short}, {"repeated", 0}, {"dropped", dropped}, {"error", ""}};
  if (of_long >= 0)
    answer["frames_alone"] = {
        {"sent", 2048}, {"received", 2048 - of_long}, {"repeated", 0}, {"dropped", dropped}, {"error", ""}};
}

/// What one pair has, n0001 to n0002 on rail0.
GoodRun one_path(int of_short, int of_long = -1, int dropped = 0) {
  GoodRun run = good_run();
  edit_answers(run, "rail0", [&](const std::string& from, const std::string& to, json& answer) {
    if (from == "n0001" && to == "n0002") lose(answer, of_short, of_long, dropped);
  });
  return run;
}

TEST(GateLoss, ARailThatLosesFramesIsBlamedThoughItCarriesItsRate) {
  GoodRun run = good_run();
  edit_answers(run, "rail1", [](const std::string& from, const std::string& to, json& answer) {
    if (from == "n0003" || to == "n0003") lose(answer, 13, 100);
  });
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "NOT READY");
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.packet_loss n0003 rail1")));
  EXPECT_EQ(result.nodes[2].findings[0].subject.direction, "");
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "pass", "fail", "pass"));
}

TEST(GateLoss, LossInOneDirectionIsNamedWithItsDirection) {
  for (const bool sending : {true, false}) {
    GoodRun run = good_run();
    edit_answers(run, "rail0", [&](const std::string& from, const std::string& to, json& answer) {
      if ((sending ? from : to) == "n0002") lose(answer, 13, 100);
    });
    const GateResult result = judge(run, run.text());
    ASSERT_THAT(blamed(result), ElementsAre(StartsWith("pair.packet_loss n0002 rail0")));
    EXPECT_EQ(result.nodes[1].findings[0].subject.direction, sending ? "tx" : "rx");
    EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
  }
}

TEST(GateLoss, SlownessOfALossyRailIsItsEcho) {
  GoodRun run = good_run();
  edit_answers(run, "rail0", [](const std::string& from, const std::string&, json& answer) {
    if (from == "n0002") lose(answer, 60, 500);
  });
  for (Record& record : run.records) {
    const bool hit = record.check == "pair.rail" && record.rail == "rail0" &&
                     (record.hosts[0] == "n0002" || record.hosts[1] == "n0002");
    if (!hit) continue;
    for (const char* way : {"a_to_b", "b_to_a"})  // the answers of the other direction are lost as well
      for (json& point : record.sample[way]["sweep"]) {
        point["bytes_per_s"] = point["bytes_per_s"].get<double>() * 0.4;
        point["elapsed_s"] = point["elapsed_s"].get<double>() / 0.4;
      }
    record = judged({run.inventory, run.limits}, record);
  }
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.packet_loss n0002 rail0")));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
}

TEST(GateLoss, AFewFramesWithinTheLimitAreAWarning) {
  const GoodRun run = one_path(1, 1);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  EXPECT_THAT(said(result), HasSubstr("1 of 2048 frames lost"));
}

TEST(GateLoss, WhatIsNotDecidedKeepsTheGateShutAndBlamesNobody) {
  const std::vector<std::pair<GoodRun, std::string>> cases{{one_path(1), "pair.packet_loss"},
                                                           {one_path(20, 0), "pair.inconsistent"},
                                                           {one_path(20, 30, 40), "pair.frames_dropped_by_host"},
                                                           {one_path(256), "pair.frames_filtered"}};
  for (const auto& [run, cause] : cases) {
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.exit_code, ExitCode::inconclusive) << cause << ": " << said(result);
    EXPECT_THAT(blamed(result), ElementsAre(StartsWith(cause)));
    for (const NodeResult& node : result.nodes) EXPECT_NE(node.verdict, Verdict::fail) << cause << " " << node.name;
  }
}

TEST(GateLoss, APathThatWasNotCountedIsNotReady) {
  const std::vector<std::function<void(json&)>> edits{
      [](json& answer) { answer.erase("frames"); },
      [](json& answer) { answer["frames"]["sent"] = answer["frames"]["received"] = 0; },
      [](json& answer) { answer["frames"]["sent"] = answer["frames"]["received"] = 100; },
      [](json& answer) { answer["frames"]["received"] = 300; },
      [](json& answer) {
        answer["frames"] = {{"sent", 0}, {"received", 0}, {"repeated", 0}, {"dropped", 0}, {"error", "no socket"}};
      }};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    GoodRun run = good_run();
    edit_answers(run, "rail0", [&](const std::string& from, const std::string& to, json& answer) {
      if (from == "n0001" && to == "n0002") edits[i](answer);
    });
    expect_shut(judge(run, run.text()), std::to_string(i));
  }
}

TEST(GateLoss, WhereReachabilityFailedNothingNeedsToBeCounted) {
  GoodRun run = good_run();
  edit_answers(run, "rail0", [](const std::string& from, const std::string& to, json& answer) {
    if (from != "n0004" && to != "n0004") return;
    answer["full_mtu"] = false;
    answer.erase("frames");
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre(StartsWith("pair.mtu_path n0004 rail0")));
}

TEST(GateLoss, WithoutALimitNobodyIsReady) {
  for (const char* metric : {"pair.frame_loss", "pair.frame_train"}) {
    GoodRun run = good_run();
    run.limits.metrics.erase(metric);
    const GateResult result = judge(run, run.text());
    expect_shut(result, metric);
    EXPECT_THAT(said(result), HasSubstr(metric));
  }
}

}  // namespace
}  // namespace fabricgate::suites
