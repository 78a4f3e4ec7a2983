#pragma once
/// What the tests of the gate share: one good run and what is expected of a shut gate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "suites/gate/gate.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::suites {

inline const GoodRun& good() {
  static const GoodRun run = good_run();
  return run;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

inline GateResult judge(const GoodRun& run, const std::string& text) {
  return gate({run.inventory, run.suite, run.limits, run.identity}, {{"records.jsonl", text}});
}

/// Everything a result says about why it is shut, for searching.
inline std::string said(const GateResult& result) {
  std::string out = result.text + " | " + result.reason;
  const auto add = [&](const Finding& finding) { out += " | " + finding.cause + " " + to_string(finding.subject) + " " + finding.expected + " " + finding.found; };
  for (const NodeResult& node : result.nodes)
    for (const Finding& finding : node.findings) add(finding);
  for (const Finding& finding : result.findings) add(finding);
  for (const Missing& missing : result.missing) out += " | " + to_string(missing);
  return out;
}

inline void expect_shut(const GateResult& result, const std::string& what) {
  EXPECT_NE(result.exit_code, ExitCode::ready) << what << ": " << said(result);
  EXPECT_THAT(result.text, testing::Not(testing::HasSubstr("READY (emulated)"))) << what;
  EXPECT_FALSE(result.reason.empty()) << what;
}

}  // namespace fabricgate::suites
