#include "launch/commands/options.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

/// The budget read, or -1 where it was refused as a usage error.
double budget_of(const std::string& text) {
  CLI::App app;
  double budget_s = 0;
  add_budget(app, budget_s);
  testing::internal::CaptureStderr();
  const auto code = parse_options(app, {"--budget", text});
  const std::string said = testing::internal::GetCapturedStderr();
  if (!code) return budget_s;
  EXPECT_EQ(*code, 64);
  EXPECT_NE(said.find("--budget: '" + text + "' is not a number of seconds"), std::string::npos) << said;
  return -1;
}

TEST(Budget, SecondsAreReadAndZeroIsNoLimit) {
  EXPECT_EQ(budget_of("0"), 0);
  EXPECT_EQ(budget_of("1"), 1);
  EXPECT_EQ(budget_of("90.5"), 90.5);
  EXPECT_EQ(budget_of("1e3"), 1000);
}

TEST(Budget, WhatIsNoNumberOfSecondsIsAUsageError) {
  for (const char* text : {"nan", "inf", "-inf", "infinity", "-1", "-0", "1e400", "1e9", "1e-300", "0.5", "0x10", "",
                           " 5", "5s", "5 6", "five", "1e"})
    EXPECT_EQ(budget_of(text), -1) << text;
}

TEST(Runs, AFolderWithoutANameIsAUsageError) {
  CLI::App app;
  std::string runs = "fabricgate-runs";
  add_runs(app, runs);
  testing::internal::CaptureStderr();
  const auto code = parse_options(app, {"--runs", ""});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--runs"), std::string::npos);
  EXPECT_EQ(code, 64);
}

}  // namespace
}  // namespace fabricgate::launch
