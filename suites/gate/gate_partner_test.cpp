/// A node is READY by what was measured with others, not by the others' absence.
#include "suites/gate/gate_testing.hpp"

#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

TEST(GatePartner, ARequiredNodeWhoseOptionalPartnersAllLeftIsNotReady) {
  GoodRun run = good_run();
  for (std::size_t node = 1; node < run.inventory.nodes.size(); ++node) run.inventory.nodes[node].required = false;
  drop(run, [](const Record& record) { return record.tier >= Tier::pair || (!about(record, "n0001") && record.hosts.size() == 1); });
  const GateResult result = judge(run, run.text());
  expect_shut(result, "alone");
  EXPECT_THAT(said(result), testing::HasSubstr("gate.coverage n0001"));
}

TEST(GatePartner, ARailThatNoOtherNodeDeclaresIsNotReady) {
  GoodRun run = good_run();
  auto spec = std::make_shared<NodeClass>(*run.inventory.nodes[0].spec);
  spec->rails[1].name = "rail9";
  run.inventory.nodes[0].spec = spec;
  drop(run, [](const Record& record) { return record.check == "pair.rail" && about(record, "n0001") && record.rail == "rail1"; });
  for (Record& record : run.records) {
    if (record.check == "pair.reach" && about(record, "n0001"))
      record.sample = good_reach(run.inventory, *run.inventory.find(record.hosts[0]), *run.inventory.find(record.hosts[1]));
    if (record.hosts != std::vector<std::string>{"n0001"} || record.rail != "rail1") continue;
    record.rail = "rail9";
    record.sample["rail"] = "rail9";
  }
  const GateResult result = judge(run, run.text());
  expect_shut(result, "rail of one node");
  EXPECT_THAT(said(result), testing::HasSubstr("gate.coverage n0001 rail9"));
}

TEST(GatePartner, OwnLimitsAndAnOwnSuiteAreNamedBesideReadyAndAPartIsNoReady) {
  GoodRun run = good_run();
  EXPECT_EQ(judge(run, run.text()).text, "READY (emulated)");
  run.limits.checksum = "other";
  EXPECT_EQ(judge(run, run.text()).text, "READY (emulated, own limits)");
  run.suite.checksum = "other";
  EXPECT_EQ(judge(run, run.text()).text, "READY (emulated, own suite, own limits)");
  run.suite.only = {Tier::host, Tier::link};
  EXPECT_EQ(judge(run, run.text()).text, "PASS of host, link alone (emulated, own suite, own limits)");
}

TEST(GatePartner, TiersOfAPartThatAreNamedTwiceAreOne) {
  GoodRun run = good_run();
  for (const auto& [only, text] : {std::pair{std::vector{Tier::host, Tier::host, Tier::host}, "PASS of host alone (emulated)"},
                                   {{Tier::link, Tier::host, Tier::link}, "PASS of host, link alone (emulated)"}}) {
    run.suite.only = only;
    EXPECT_EQ(judge(run, run.text()).text, text);
  }
}

}  // namespace
}  // namespace fabricgate::suites
