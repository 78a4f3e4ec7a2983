/// Traffic that takes another way than the rail although every number is good: routes, neighbour entries, foreign answers.
#include "fabric/pairs/pair_sample.hpp"
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const char* const rail = "rail0";

/// Edits each node's answer about a peer on rail0.
void edit_answers(GoodRun& run, const std::function<void(json&)>& edit) {
  change(run, "pair.reach", [&](Record& record) {
    const json before = record.sample;
    for (json& answer : record.sample["answers"])
      if (answer["from_rail"] == rail && answer["to_rail"] == rail) edit(answer);
    return record.sample != before;
  });
}

std::string mac_of(const GoodRun& run, const std::string& host) {
  for (const Record& record : run.records)
    if (record.check == "link.rail" && record.hosts[0] == host && record.rail == rail) return record.sample["now"]["mac"];
  return "";
}

/// Nothing came through between the two, in either direction.
void break_path(GoodRun& run, const std::string& a, const std::string& b) {
  change(run, "pair.rail", [&](Record& record) {
    if (record.rail != rail || !about(record, a) || !about(record, b)) return false;
    record.sample["error"] = "the connection broke";
    return true;
  });
}

std::vector<std::string> others(const GateResult& result, const std::string& but) {
  std::vector<std::string> out;
  for (const NodeResult& node : result.nodes)
    if (node.name != but && !opens_gate(node.verdict)) out.push_back(node.name);
  return out;
}

TEST(GateWays, ARouteOverAnotherInterfaceShutsTheGateAndNamesItsNode) {
  GoodRun run = good();
  edit_answers(run, [](json& answer) {
    if (answer["from"] == "n0002") answer["next_hop"]["netdev"] = "mgmt0";
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.wrong_route n0002 rail0 (fab0)"));
  EXPECT_THAT(said(result), HasSubstr("through mgmt0"));
  EXPECT_THAT(others(result, "n0002"), ElementsAre());
  expect_shut(result, "route");
}

TEST(GateWays, ARouterOnTheWayToOnePeerNamesThatPeer) {
  GoodRun run = good();
  edit_answers(run, [](json& answer) {
    if (answer["from"] == "n0003" && answer["to"] == "n0001") answer["next_hop"]["gateway"] = "172.16.0.9";
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.wrong_route n0003 rail0 (fab0) <-> n0001"));
  EXPECT_THAT(said(result), HasSubstr("through fab0 by 172.16.0.9"));
}

TEST(GateWays, ANeighbourEntryThatAThirdRelaysNamesTheNodeThatHasIt) {
  GoodRun run = good();
  const std::string third = mac_of(run, "n0004");
  edit_answers(run, [&](json& answer) {
    if (answer["from"] == "n0001" && answer["to"] == "n0002") answer["next_hop"]["mac"] = third;
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.wrong_neighbour n0001 rail0 (fab0) <-> n0002"));
  EXPECT_THAT(said(result), HasSubstr("at " + third + " (n0004 rail0)"));
  EXPECT_THAT(others(result, "n0001"), ElementsAre());
}

TEST(GateWays, AWrongEntryThatLetsNothingThroughIsTheOneFinding) {
  GoodRun run = good();
  edit_answers(run, [](json& answer) {
    if (answer["from"] != "n0001" || answer["to"] != "n0002") return;
    answer["next_hop"]["mac"] = "02:00:00:99:99:99";
    answer["echo"] = answer["full_mtu"] = false;
    answer["mtu_error"] = "no echo of any size is answered";
  });
  break_path(run, "n0001", "n0002");
  EXPECT_THAT(blamed(judge(run, run.text())), ElementsAre("pair.wrong_neighbour n0001 rail0 (fab0) <-> n0002"));
}

TEST(GateWays, WhereNoEchoOfAnySizePassesTheMtuIsNotBlamed) {
  GoodRun run = good();
  edit_answers(run, [](json& answer) {
    if (answer["from"] != "n0003" && answer["to"] != "n0003") return;
    answer["echo"] = answer["full_mtu"] = false;
    answer["mtu_error"] = "no echo of any size is answered";
  });
  for (const char* peer : {"n0001", "n0002", "n0004"}) break_path(run, "n0003", peer);
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.unreachable n0003 rail0 (fab0)"));
  EXPECT_THAT(said(result), Not(HasSubstr("pair.mtu_path")));
}

TEST(GateWays, WhoAnswersForTheAddressesOfOthersIsBlamedAndNotTheOthers) {
  GoodRun run = good();
  const std::string proxy = mac_of(run, "n0004");
  edit_answers(run, [&](json& answer) {
    if (answer["from"] == "n0004" || answer["to"] == "n0004") return;
    answer["macs"].push_back(proxy);
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.duplicate_address n0004 rail0 (fab0)"));
  EXPECT_THAT(others(result, "n0004"), ElementsAre());
}

TEST(GateWays, OneAnswerByAnotherNodesInterfaceShutsTheGateThoughAllIsFast) {
  GoodRun run = good();
  const std::string proxy = mac_of(run, "n0004");
  edit_answers(run, [&](json& answer) {
    if (answer["to"] != "n0002" || answer["from"] == "n0004") return;
    answer["macs"] = {proxy};
    answer["next_hop"]["mac"] = proxy;
  });
  const GateResult result = judge(run, run.text());
  EXPECT_THAT(blamed(result), ElementsAre("pair.duplicate_address n0004 rail0 (fab0) <-> n0002"));
  expect_shut(result, "proxy");
}

TEST(GateWays, ASampleThatDoesNotTellTheWayIsNoEvidence) {
  for (const bool whole : {true, false}) {
    GoodRun run = good();
    edit_answers(run, [&](json& answer) {
      if (whole) answer.erase("next_hop");
      if (!whole) answer["next_hop"]["netdev"] = "";
    });
    expect_shut(judge(run, run.text()), whole ? "no next hop" : "no interface");
  }
}

}  // namespace
}  // namespace fabricgate::suites
