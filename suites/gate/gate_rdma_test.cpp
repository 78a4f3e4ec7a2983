/// Rails that declare an RDMA device or a leaf: what the gate demands of them, and which finding is whose echo.
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Changes the samples of one check on n0001 rail0 as a live run would have: a node that left is not asked again at its end.
GoodRun changed(const std::string& check, const std::function<void(nlohmann::json&)>& edit, GoodRun run = good()) {
  const auto chosen = [&](const Record& record) { return record.check == check && record.hosts[0] == "n0001" && (record.rail == "rail0" || record.rail.empty()); };
  change(run, check, [&](Record& record) {
    if (chosen(record)) edit(record.sample);
    return chosen(record);
  });
  const bool left = std::any_of(run.records.begin(), run.records.end(), [&](const Record& record) { return chosen(record) && !opens_gate(record.verdict) && record.verdict != Verdict::skip; });
  if (left) drop(run, [](const Record& record) { return record.hosts[0] == "n0001" && find_check(record.check)->at_end; });
  return run;
}

GateResult judge(const GoodRun& run) { return judge(run, run.text()); }

TEST(GateRdma, HardwareWithDevicesVfsAndLeavesIsReady) {
  const GoodRun run = good_run({.emulated = false, .rdma = true, .leaves = true});
  EXPECT_EQ(judge(run).text, "READY") << said(judge(run));
}

TEST(GateRdma, RailsWithoutADeviceAreNotAskedForOneAndARecordOfItIsUnexpected) {
  const GoodRun plain = good_run();
  EXPECT_EQ(judge(plain).text, "READY (emulated)");
  for (const Record& record : good().records) {
    if (record.check.rfind("link.rdma", 0) != 0 && record.check != "link.cabling") continue;
    Record stray = record;
    stray.identity = plain.identity;
    expect_shut(judge(plain, plain.text() + to_line(stray) + "\n"), "a record of " + record.check);
  }
}

TEST(GateRdma, ADeclaredDeviceThatIsAbsentMakesTheNodeNotReady) {
  const GateResult result = judge(changed("link.rdma", [](nlohmann::json& sample) {
    sample["now"]["present"] = false;
    sample["now"]["devices"] = nlohmann::json::array();
  }));
  EXPECT_EQ(result.exit_code, ExitCode::not_ready) << said(result);
  EXPECT_THAT(result.reason, HasSubstr("rdma.no_devices"));
  EXPECT_EQ(result.nodes[0].left_in, Tier::link);
}

TEST(GateRdma, ASkipIsOneByItsSampleAndNeverByItsWord) {
  GoodRun run = changed("link.cabling", [](nlohmann::json& sample) {
    sample["neighbours"] = nlohmann::json::array();
    sample["unreadable"] = "the switch cannot be asked: no lldpctl";
  });
  EXPECT_EQ(judge(run).text, "READY (emulated)") << said(judge(run));
  for (const char* check : {"link.cabling", "link.rdma"}) {
    run = good();
    run.suite.checks.at(check).may_skip = true;
    for (Record& record : run.records)
      if (record.check == check) record.verdict = Verdict::skip, record.reason = "not here";
    expect_shut(judge(run), std::string("skipped ") + check);
  }
  run = changed("link.cabling", [](nlohmann::json& sample) { sample["unreadable"] = "no lldpctl"; });
  run.suite.checks.at("link.cabling").may_skip = false;
  expect_shut(judge(run), "a suite that allows no skip");
}

TEST(GateRdma, AnInfinibandPortIsTheCauseOfItsInterfaceWithoutCarrier) {
  GoodRun run = changed("link.rail", [](nlohmann::json& sample) { sample["now"]["carrier"] = false; });
  EXPECT_THAT(blamed(judge(run)), ElementsAre(HasSubstr("link.down"))) << said(judge(run));
  run = changed("link.rdma", [](nlohmann::json& sample) { sample["now"]["port"]["state"] = "DOWN"; sample["now"]["port"]["phys_state"] = "Polling"; }, run);
  EXPECT_THAT(blamed(judge(run)), ElementsAre(HasSubstr("link.polling"))) << said(judge(run));
}

TEST(GateRdma, AnAddressThatIsMissingIsTheCauseOfTheMissingGid) {
  GoodRun run = changed("link.rail", [](nlohmann::json& sample) { sample["now"]["addresses"] = nlohmann::json::array(); });
  run = changed("link.rdma", [](nlohmann::json& sample) { sample["now"]["gids"].erase(1); }, run);
  EXPECT_THAT(blamed(judge(run)), ElementsAre(HasSubstr("link.address_missing"))) << said(judge(run));
}

TEST(GateRdma, ABondWithADeadLegIsAWarning) {
  const GateResult result = judge(changed("link.rail", [](nlohmann::json& sample) {
    sample["now"]["bond"] = {{{"netdev", "ens1f0"}, {"up", true}, {"carries", true}}, {{"netdev", "ens1f1"}, {"up", false}, {"carries", true}}};
  }));
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  EXPECT_EQ(result.nodes[0].verdict, Verdict::warn);
  EXPECT_THAT(said(result), HasSubstr("link.bond_degraded n0001 rail0 (fab0) 2 legs of fab0 ens1f1 down"));
}

}  // namespace
}  // namespace fabricgate::suites
