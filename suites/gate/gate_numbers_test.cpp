/// No number of any sample, replaced by what cannot be, opens the gate.
#include <algorithm>
#include <set>

#include "suites/gate/gate_testing.hpp"

namespace fabricgate::suites {
namespace {

/// Every number of every kind of sample, bent.
void bend(nlohmann::json& value, const std::string& path, std::vector<std::pair<std::string, nlohmann::json*>>& numbers) {
  if (value.is_number()) numbers.emplace_back(path, &value);
  if (!value.is_structured()) return;
  for (auto& [key, child] : value.items()) bend(child, path + "/" + key, numbers);
}

/// Numbers that are said of a machine but nothing is demanded of, so that no value of them can be wrong.
bool not_demanded(const std::string& path) {
  static const std::vector<std::string> names{"/numa_nodes",      "/speed_mbps",  "/mtu",
                                              "/carrier_changes", "/rx_dropped",  "/numa_node",
                                              "/clock_unix_s",    "/read_unix_s", "/loss"};
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return path.size() >= name.size() && path.compare(path.size() - name.size(), name.size(), name) == 0;
  });
}

TEST(GateNumbers, ANumberThatCannotBeShutsTheGate) {
  std::set<std::string> done;
  for (std::size_t i = 0; i < good().records.size(); ++i) {
    if (!done.insert(good().records[i].check).second) continue;
    Record probe = good().records[i];
    std::vector<std::pair<std::string, nlohmann::json*>> numbers;
    bend(probe.sample, "", numbers);
    for (const auto& [path, place] : numbers) {
      const nlohmann::json before = *place;
      std::vector<nlohmann::json> values{nullptr, "x", nlohmann::json::array()};
      if (!not_demanded(path)) values.insert(values.end(), {-1, -1.0, -1e300, 1e300});
      for (const nlohmann::json& value : values) {
        *place = value;
        std::vector<std::string> lines = good().lines();
        lines[i] = to_line(probe);
        expect_shut(judge(good(), joined(lines)), subject_key(probe) + " " + path + " = " + value.dump());
      }
      *place = before;
    }
  }
}

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
