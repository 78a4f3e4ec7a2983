/// Times of records, and facts that contradict each other. Numbers of samples: gate_mutation_test.cpp.
#include <algorithm>
#include <set>

#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

TEST(GateNumbers, ATimeOfARecordThatCannotBeShutsTheGate) {
  std::set<std::string> done;
  for (std::size_t i = 0; i < good().records.size(); ++i) {
    if (!done.insert(good().records[i].check).second) continue;
    const auto expect_inconclusive = [&](double Record::*member, double value) {
      Record probe = good().records[i];
      probe.*member = value;
      std::vector<std::string> lines = good().lines();
      lines[i] = to_line(probe);
      const GateResult result = judge(good(), joined(lines));
      EXPECT_EQ(result.exit_code, ExitCode::inconclusive) << subject_key(probe) << " " << value << ": " << said(result);
    };
    for (const double value : {-1.0, 1e300}) {
      expect_inconclusive(&Record::started_unix_s, value);
      expect_inconclusive(&Record::elapsed_s, value);
    }
  }
}

TEST(GateNumbers, FactsWithoutAnyDeclaredSettingOrWithLimitsOutOfOrderAreNoEvidence) {
  const std::vector<std::function<void(nlohmann::json&)>> bends{
      [](nlohmann::json& facts) { facts["sysctl"] = nlohmann::json::object(); },
      [](nlohmann::json& facts) { facts["memlock_hard_bytes"] = 65536; }};
  for (const auto& bend : bends) {
    GoodRun run = good_run();
    change(run, "host.facts", [&](Record& record) {
      if (!about(record, "n0002")) return false;
      bend(record.sample);
      return true;
    });
    const GateResult result = judge(run, run.text());
    EXPECT_EQ(result.exit_code, ExitCode::inconclusive) << said(result);
    EXPECT_THAT(said(result), testing::HasSubstr("gate.sample_unusable n0002"));
  }
}

}  // namespace
}  // namespace fabricgate::suites
