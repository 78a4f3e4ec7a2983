#include "launch/accept/carried_rate.hpp"

#include <gtest/gtest.h>

#include "suites/check.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

constexpr double declared = 2 * 1e9 / 8;  // two rails

/// What four nodes carry when n0001 to n0002 reaches `shares` of rail1 in turn.
double carried(const std::vector<double>& shares, const std::vector<std::string>& hosts) {
  suites::GoodRun run = suites::good_run();
  std::string text;
  for (const Record& record : run.records) {
    if (record.check != "pair.rail" || record.rail != "rail1" ||
        record.hosts != std::vector<std::string>{"n0001", "n0002"})
      continue;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Record changed = record;
      changed.attempt = static_cast<int>(i);
      for (auto& point : changed.sample["a_to_b"]["sweep"]) {
        point["bytes_per_s"] = shares[i] * 1e9 / 8;
        point["elapsed_s"] = point["messages"].get<double>() * point["bytes"].get<double>() / (shares[i] * 1e9 / 8);
      }
      text += to_line(suites::judged({run.inventory, run.limits}, changed)) + "\n";
    }
  }
  const suites::GateInput input{run.inventory, run.suite, run.limits, run.identity};
  return carried_bytes_per_s(run.inventory, hosts, suites::read_exhibits(input, {{"records", text}}).records);
}

TEST(CarriedRate, IsTheDeclaredOneLessWhatTheSlowestPairOfTheHostsReachedAtBest) {
  const std::vector<std::string> all{"n0001", "n0002", "n0003", "n0004"};
  EXPECT_DOUBLE_EQ(carried({}, all), declared);
  EXPECT_NEAR(carried({0.03}, all), 0.03 * declared, 1e3);
  EXPECT_NEAR(carried({0.03, 0.5}, all), 0.5 * declared, 1e3);
  EXPECT_DOUBLE_EQ(carried({0.03, 0.9}, all), declared);  // good
  EXPECT_DOUBLE_EQ(carried({0.03}, {"n0001", "n0003"}), declared);
  EXPECT_DOUBLE_EQ(carried({0.0001}, all), 0.01 * declared);
}

}  // namespace
}  // namespace fabricgate::launch
