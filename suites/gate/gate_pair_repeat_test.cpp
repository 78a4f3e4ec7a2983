/// A pair that was slow once is measured again before it closes the gate.
#include "suites/gate/gate_testing.hpp"

#include <algorithm>
#include <utility>

#include "suites/check.hpp"

namespace fabricgate::suites {
namespace {

using testing::ElementsAre;

using Repeats = std::vector<std::pair<const char*, double>>;  ///< mode, share of the good rate

/// rail0 from n0001 to n0002: at `first` of its good rate as planned, then so.
GateResult judge_pair(double first, const Repeats& repeats) {
  GoodRun run = good_run();
  const auto is_suspect = [](const Record& record) {
    return record.check == "pair.rail" && about(record, "n0001") && about(record, "n0002") && record.rail == "rail0";
  };
  const Record good = *std::find_if(run.records.begin(), run.records.end(), is_suspect);
  change(run, "pair.rail", [&](Record& record) {
    if (!is_suspect(record)) return false;
    slow_down(record.sample["a_to_b"], first);
    return true;
  });
  int attempt = 0;
  for (const auto& [mode, factor] : repeats) {
    Record again = good;
    again.attempt = ++attempt;
    again.sample["mode"] = mode;
    slow_down(again.sample["a_to_b"], factor);
    run.records.push_back(judged({run.inventory, run.limits}, again));
  }
  return judge(run, run.text());
}

TEST(Gate, ASuspectGoodAloneAndUnderFullLoadIsAWarning) {
  const GateResult result = judge_pair(0.5, {{"alone", 1}, {"together", 1}});
  EXPECT_EQ(result.text, "READY (emulated)") << result.reason;
  EXPECT_EQ(result.verdict, Verdict::warn);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].cause, "pair.unstable");
}

TEST(Gate, APairThatWasSlowOnlyInARepetitionIsAWarningToo) {
  const GateResult result = judge_pair(1, {{"together", 0.5}, {"alone", 1}});
  EXPECT_EQ(result.text, "READY (emulated)") << result.reason;
  EXPECT_EQ(result.findings[0].cause, "pair.unstable");
}

TEST(Gate, ASlowMeasurementAloneIsAWarningWhereThreeOthersAloneAreGood) {
  const GateResult settled = judge_pair(1, {{"partner", 0.8}, {"alone", 1}, {"alone", 1}, {"alone", 1}});
  EXPECT_EQ(settled.text, "READY (emulated)") << said(settled);
  ASSERT_EQ(settled.findings.size(), 1U);
  EXPECT_EQ(settled.findings[0].cause, "pair.unstable");
  EXPECT_THAT(settled.findings[0].found, testing::HasSubstr("in 1 of 5 measurements, alone"));
  const auto exit_code = [](const Repeats& repeats) { return judge_pair(1, repeats).exit_code; };
  EXPECT_EQ(exit_code({{"partner", 0.8}, {"alone", 1}, {"alone", 1}}), ExitCode::inconclusive);
  EXPECT_EQ(exit_code({{"partner", 0.8}, {"alone", 1}, {"alone", 1}, {"alone", 1}, {"together", 0.5}}), ExitCode::inconclusive);
  EXPECT_NE(exit_code({{"partner", 0.8}, {"alone", 0.8}, {"alone", 1}, {"alone", 1}, {"alone", 1}}), ExitCode::ready);
}

TEST(Gate, APairThatIsSlowEachTimeOthersRunIsContentionAndNothingElse) {
  const GateResult result = judge_pair(0.5, {{"alone", 1}, {"together", 0.5}});
  EXPECT_EQ(result.exit_code, ExitCode::not_ready);
  EXPECT_THAT(blamed(result), ElementsAre("pair.contention n0001 rail0 tx <-> n0002"));
}

TEST(Gate, ASuspectThatWasNotGoodInEveryRepetitionStaysBad) {
  const std::vector<Repeats> cases{
      {}, {{"alone", 1}}, {{"together", 1}}, {{"alone", 0.5}, {"together", 1}}, {{"alone", 1}, {"together", 0.5}},
      {{"alone", 1}, {"together", 1}, {"together", 0.5}}, {{"alone", 1}, {"partner", 1}}};
  for (const Repeats& repeats : cases) {
    const GateResult result = judge_pair(0.5, repeats);
    EXPECT_NE(result.exit_code, ExitCode::ready) << repeats.size() << " retests";
    EXPECT_FALSE(result.reason.empty());
  }
}

}  // namespace
}  // namespace fabricgate::suites
