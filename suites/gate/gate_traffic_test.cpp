/// What was measured over a rail must have passed its interface.
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The interface of rail0 counted `bytes` over the run.
void count(GoodRun& run, const std::string& host, const char* name, double bytes) {
  change(run, "link.counters", [&](Record& record) {
    if (record.hosts[0] != host || record.rail != "rail0") return false;
    record.sample["now"]["counters"][name] = record.sample["before"]["counters"][name].get<std::int64_t>() + static_cast<std::int64_t>(bytes);
    return true;
  });
}

constexpr double by_collective = 2e8;  // each node of the good run, each way

/// Payload of one direction of all good pairs of a rail with one node.
double payload(const GoodRun& run, const std::string& host, const std::string& peer = "") {
  double bytes = 0;
  for (const Record& record : run.records) {
    if (record.check != "pair.rail" || record.rail != "rail0" || !about(record, host)) continue;
    if (!peer.empty() && !about(record, peer)) continue;
    bytes += record.sample["a_to_b"]["sent_bytes"].get<double>() + record.sample["both"]["a_to_b"]["sent_bytes"].get<double>();
  }
  return bytes;
}

TEST(GateTraffic, ANodeWhoseBytesLeftElsewhereIsNamedAndItsReceiversAreNot) {
  GoodRun run = good();
  count(run, "n0002", "tx_bytes", 3e6);
  for (const char* peer : {"n0001", "n0003", "n0004"})
    count(run, peer, "rx_bytes", payload(run, peer) - payload(run, peer, "n0002"));
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("link.traffic_elsewhere n0002 rail0 (fab0) tx"));
  EXPECT_THAT(said(result), HasSubstr("0.003 GB"));
  EXPECT_THAT(verdicts(result), ElementsAre("pass", "fail", "pass", "pass"));
  expect_shut(result, "tx");
}

TEST(GateTraffic, ANodeThatReceivedItsBytesElsewhereIsNamed) {
  GoodRun run = good();
  count(run, "n0003", "rx_bytes", payload(run, "n0003", "n0001"));
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre("link.traffic_elsewhere n0003 rail0 (fab0) rx"));
}

TEST(GateTraffic, AnInterfaceThatCountedAllOfItIsGood) {
  GoodRun run = good();
  for (const char* name : {"tx_bytes", "rx_bytes"}) count(run, "n0001", name, 0.95 * (payload(run, "n0001") + by_collective));
  EXPECT_EQ(judge(run, run.text()).exit_code, ExitCode::ready);
}

TEST(GateTraffic, WhatTheCollectiveMovedCountsToo) {
  GoodRun run = good();
  count(run, "n0001", "tx_bytes", payload(run, "n0001") + 0.2 * by_collective);
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre("link.traffic_elsewhere n0001 rail0 (fab0) tx"));
}

TEST(GateTraffic, WhatARouteExplainedBeforeIsAnEcho) {
  GoodRun run = good();
  change(run, "pair.reach", [](Record& record) {
    bool any = false;
    for (auto& answer : record.sample["answers"])
      if (answer["from"] == "n0002" && answer["from_rail"] == "rail0" && answer["to_rail"] == "rail0") {
        answer["next_hop"]["netdev"] = "mgmt0";
        any = true;
      }
    return any;
  });
  count(run, "n0002", "tx_bytes", 0);
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre("pair.wrong_route n0002 rail0 (fab0)"));
}

TEST(GateTraffic, WhoReceivedFromANodeThatLeftBeforeTheEndIsNotBlamed) {
  GoodRun run = good();
  drop(run, [](const Record& record) { return record.check == "link.counters" && record.hosts[0] == "n0002"; });
  count(run, "n0001", "rx_bytes", payload(run, "n0001") - payload(run, "n0001", "n0002") + by_collective);
  EXPECT_THAT(said(judge(run, run.text())), testing::Not(HasSubstr("traffic_elsewhere")));
}

TEST(GateTraffic, AMeasurementThatDidNotEndIsHeldAgainstNobody) {
  GoodRun run = good();
  change(run, "pair.rail", [](Record& record) {
    if (record.rail != "rail0" || !about(record, "n0001")) return false;
    record.sample["error"] = "the connection broke";
    return true;
  });
  count(run, "n0001", "tx_bytes", by_collective);
  EXPECT_THAT(said(judge(run, run.text())), testing::Not(HasSubstr("traffic_elsewhere")));
}

TEST(GateTraffic, CountersThatCannotBeComparedAreNoEvidence) {
  const std::vector<std::pair<std::string, std::function<void(nlohmann::json&)>>> edits{
      {"no tx_bytes", [](auto& sample) { sample["now"]["counters"].erase("tx_bytes"), sample["before"]["counters"].erase("tx_bytes"); }},
      {"rx_bytes reset", [](auto& sample) { sample["now"]["counters"]["rx_bytes"] = 1; }},
      {"made anew", [](auto& sample) { sample["now"]["index"] = 8; }},
      {"index not told", [](auto& sample) { sample["now"]["index"] = 0; }}};
  for (const auto& [what, edit] : edits) {
    GoodRun run = good();
    change(run, "link.counters", [&, &edit = edit](Record& record) {
      if (record.hosts[0] == "n0001") edit(record.sample);
      return record.hosts[0] == "n0001";
    });
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.exit_code, ExitCode::inconclusive) << what << said(result);
    EXPECT_THAT(said(result), testing::Not(HasSubstr("traffic_elsewhere"))) << what;
  }
}

TEST(GateTraffic, APairThatStatesFewerBytesThanItMeasuredIsNoEvidence) {
  for (const char* key : {"sent_bytes", "received_bytes"})
    for (const bool absent : {true, false}) {
      GoodRun run = good();
      change(run, "pair.rail", [&](Record& record) {
        if (absent) record.sample["a_to_b"].erase(key);
        if (!absent) record.sample["a_to_b"][key] = 1;
        return true;
      });
      EXPECT_EQ(judge(run, run.text()).exit_code, ExitCode::inconclusive) << key;
    }
}

}  // namespace
}  // namespace fabricgate::suites
