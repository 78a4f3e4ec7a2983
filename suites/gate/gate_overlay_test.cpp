/// The management network has no declared rate: nodes are held against one another.
#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Paths of the management network from, or to, the node at `factor` of their rate.
GoodRun slow_overlay(const std::string& host, double factor, bool sending, bool receiving) {
  GoodRun run = good_run();
  change(run, "pair.overlay", [&](Record& record) {
    if (!about(record, host)) return false;
    const bool first = record.hosts[0] == host;
    if (first ? sending : receiving) slow_down(record.sample["a_to_b"], factor);
    if (first ? receiving : sending) slow_down(record.sample["b_to_a"], factor);
    return true;
  });
  return run;
}

std::vector<std::string> warned(const GateResult& result) {
  std::vector<std::string> out;
  for (const NodeResult& node : result.nodes)
    for (const Finding& finding : node.findings) out.push_back(finding.cause + " " + to_string(finding.subject));
  return out;
}

TEST(GateOverlay, ANodeFarSlowerThanMostIsWarnedOfAndNamedWithItsDirection) {
  const GoodRun run = slow_overlay("n0002", 0.01, true, false);
  const GateResult result = judge(run, run.text());
  EXPECT_EQ(result.text, "READY (emulated)") << said(result);
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_THAT(warned(result), ElementsAre("overlay.node_slow n0002 tx"));
  EXPECT_THAT(result.nodes[1].findings[0].limit, HasSubstr("overlay.rate_share"));
}

TEST(GateOverlay, BothDirectionsOfTheNodeAndNobodyElse) {
  const GoodRun run = slow_overlay("n0004", 0.1, true, true);
  EXPECT_THAT(warned(judge(run, run.text())), ElementsAre("overlay.node_slow n0004 tx", "overlay.node_slow n0004 rx"));
}

TEST(GateOverlay, OnePathOrASmallDifferenceIsNoNode) {
  const GoodRun some = slow_overlay("n0003", 0.4, true, true);
  EXPECT_THAT(warned(judge(some, some.text())), ElementsAre());
  GoodRun one = good_run();
  change(one, "pair.overlay", [](Record& record) {
    if (!about(record, "n0001") || !about(record, "n0002")) return false;
    slow_down(record.sample["a_to_b"], 0.01);
    return true;
  });
  EXPECT_THAT(warned(judge(one, one.text())), ElementsAre());
}

TEST(GateOverlay, WithoutItsLimitNothingPasses) {
  GoodRun run = good_run();
  run.limits.metrics.erase("overlay.rate_share");
  expect_shut(judge(run, run.text()), "no limit of the management network");
}

}  // namespace
}  // namespace fabricgate::suites
