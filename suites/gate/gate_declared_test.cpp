/// Figures held against a declaration or a limit: what is blamed when the declaration is wrong, and what findings say
/// of the limit.
#include "suites/check.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(GateDeclared, ADeclaredRateThatNoLinkHasIsBlamedOnTheRailAndOnNoNode) {
  GoodRun run = good_run({.emulated = false});
  change(run, "link.rail", [](Record& record) {
    record.sample["now"]["speed_mbps"] = record.rail == "rail1" ? 100 : 1000;
    return true;
  });
  GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("pair.fabric_slow rail1"));
  EXPECT_THAT(result.reason, StartsWith("pair.fabric_slow rail1: the links of all 4 nodes measured have 100.0 Mb/s"));
  change(run, "link.rail", [](Record& record) {  // one node has what was declared: then it is the others that lost it
    if (!about(record, "n0003")) return false;
    record.sample["now"]["speed_mbps"] = 1000;
    return true;
  });
  EXPECT_THAT(blamed(judge(run, run.text())),
              ElementsAre(StartsWith("link.speed_degraded n0001"), StartsWith("link.speed_degraded n0002"),
                          StartsWith("link.speed_degraded n0004")));
}

TEST(GateDeclared, ARailThatChangedDuringTheRunIsBlamedByNodeAndRail) {
  using nlohmann::json;
  const auto blame = [](const std::function<void(json&)>& bend) {
    GoodRun run = good_run({.emulated = false});
    change(run, "link.counters", [&](Record& record) {
      const bool its = about(record, "n0002") && record.rail == "rail1";
      if (its) bend(record.sample["now"]);
      return its;
    });
    const GateResult result = judge(run, run.text());
    expect_shut(result, "a changed rail");
    return blamed(result);
  };
  EXPECT_THAT(blame([](json& now) { now["mtu"] = 1280; }), ElementsAre(StartsWith("mtu.not_as_declared n0002 rail1")));
  EXPECT_THAT(blame([](json& now) { now["addresses"] = json::array(); }),
              ElementsAre(StartsWith("link.address_missing n0002 rail1")));
  EXPECT_THAT(blame([](json& now) { now["addresses"].insert(now["addresses"].begin(), "192.168.250.7/24"); }),
              ElementsAre(StartsWith("link.address_not_first n0002 rail1")));
  EXPECT_THAT(blame([](json& now) { now["speed_mbps"] = 100; }),
              ElementsAre(StartsWith("link.speed_degraded n0002 rail1")));
  EXPECT_THAT(blame([](json& now) { now["carrier"] = false; }), ElementsAre(StartsWith("link.down n0002 rail1")));
  EXPECT_THAT(blame([](json& now) { now["mac"] = "02:00:00:99:99:99"; }),
              ElementsAre(StartsWith("link.replaced n0002 rail1")));
  EXPECT_THAT(blame([](json& now) {  // made anew: its counters begin again, and that is not what it is blamed for
                now["mac"] = "02:00:00:99:99:99";
                now["counters"]["rx_dropped"] = 0;
              }),
              ElementsAre(StartsWith("link.replaced n0002 rail1")));
}

TEST(GateDeclared, CountersThatAreNotThereAtOneEndOfTheRunAreNoEvidence) {
  for (const char* state : {"before", "now"})
    for (const char* name : {"", "rx_errors", "tx_errors", "rx_crc_errors"}) {
      GoodRun run = good_run();
      change(run, "link.counters", [&](Record& record) {
        if (!about(record, "n0002") || record.rail != "rail1") return false;
        nlohmann::json& counters = record.sample[state]["counters"];
        if (*name == 0) counters = nlohmann::json::object();
        counters.erase(name);
        return true;
      });
      const GateResult result = judge(run, run.text());
      EXPECT_EQ(result.exit_code, ExitCode::inconclusive) << state << ' ' << name << said(result);
      EXPECT_THAT(blamed(result), ElementsAre(StartsWith("gate.sample_unusable n0002 rail1"))) << state << ' ' << name;
    }
}

TEST(GateDeclared, ADeclaredRateThatNoPairReachesIsBlamedOnTheRailWithItsLimitAndSource) {
  GoodRun run = good_run();
  change(run, "pair.rail", [](Record& record) {
    if (record.rail != "rail0") return false;
    slow_down(record.sample["a_to_b"], 0.1);
    slow_down(record.sample["b_to_a"], 0.1);
    return true;
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.fabric_slow rail0"));
  EXPECT_THAT(result.reason, StartsWith("pair.fabric_slow rail0"));
  const Finding& finding = result.findings[0];
  EXPECT_THAT(finding.expected, HasSubstr("at least 85% of the expected rate (declared 1.00 Gb/s)"));
  EXPECT_EQ(finding.limit, "pair.bandwidth_share 0.85 to 1.1: " + run.limits.find("pair.bandwidth_share")->source);
  EXPECT_THAT(to_table(result), HasSubstr("\n      limit pair.bandwidth_share 0.85 to 1.1: shaped rate"));
}

TEST(GateDeclared, ARateThatNoRailReachesIsAFindingOfEachRailAndTheCollectiveThatRanOutOfTimeBlamesNoNode) {
  GoodRun run = good_run();
  double share = 0.02;
  change(run, "pair.rail", [&share](Record& record) {
    slow_down(record.sample["a_to_b"], share);
    slow_down(record.sample["b_to_a"], share);
    share = share > 0.04 ? 0.02 : share + 0.005;
    return true;
  });
  change(run, "collective.allreduce", [](Record& record) {
    record.sample["missing"] = {"n0002"};
    return true;
  });
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("pair.fabric_slow rail0", "pair.fabric_slow rail1"));
  EXPECT_THAT(result.reason, StartsWith("pair.fabric_slow rail0: slow: 12 paths of 6 pairs, median"));
  ASSERT_GE(result.findings.size(), 2U);
  EXPECT_THAT(result.findings[1].expected, HasSubstr("(declared 1.00 Gb/s)"));
  EXPECT_THAT(result.findings[1].found, HasSubstr(" Mb/s"));
  EXPECT_THAT(verdicts(result), testing::Each("pass"));
}

TEST(GateDeclared, FindingsOfEveryMeasuredFigureNameTheirLimitAndItsSource) {
  const auto limit_of = [](const char* check, const std::function<void(nlohmann::json&)>& bend) {
    const GoodRun run = good_run({.emulated = false});
    Record record =
        *std::find_if(run.records.begin(), run.records.end(), [&](const Record& each) { return each.check == check; });
    bend(record.sample);
    record = judged({run.inventory, run.limits}, record);
    return record.findings.empty() ? std::string("no finding") : record.findings[0].limit;
  };
  using nlohmann::json;
  EXPECT_THAT(limit_of("pair.rail", [](json& sample) { slow_down(sample["a_to_b"], 0.1); }),
              StartsWith("pair.bandwidth_share 0.9 to 1.1: ngc"));
  EXPECT_THAT(limit_of("pair.rail", [](json& sample) { sample["latency_p50_s"] = sample["latency_p99_s"] = 1.0; }),
              StartsWith("pair.latency"));
  EXPECT_THAT(limit_of("link.rail", [](json& sample) { sample["now"]["speed_mbps"] = 100; }),
              StartsWith("link.speed_share at least 0.99: judgement"));
  EXPECT_THAT(limit_of("collective.allreduce",
                       [](json& sample) {
                         for (json& point : sample["points"]) {
                           point["busbw_bytes_per_s"] = point["busbw_bytes_per_s"].get<double>() / 100;
                           point["elapsed_s"] = point["elapsed_s"].get<double>() * 100;
                         }
                         for (json& elapsed : sample["rank_elapsed_s"]) elapsed = elapsed.get<double>() * 100;
                       }),
              StartsWith("collective.busbw_share 0.85 to 1.1: 0.85 to 0.92"));
}

}  // namespace
}  // namespace fabricgate::suites
