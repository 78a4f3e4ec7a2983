#pragma once
/// What the tests of the gate share: one good run and what is expected of a shut gate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "suites/check.hpp"
#include "suites/gate/gate.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::suites {

inline const GoodRun& good() {
  static const GoodRun run = good_run({.rdma = true, .leaves = true});
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

inline bool about(const Record& record, const std::string& host) {
  return std::find(record.hosts.begin(), record.hosts.end(), host) != record.hosts.end();
}

inline void drop(GoodRun& run, const std::function<bool(const Record&)>& which) {
  run.records.erase(std::remove_if(run.records.begin(), run.records.end(), which), run.records.end());
}

/// Changes samples and judges them anew, as a live run would have: what a link check finds at the start, the one at the end
/// begins with.
inline void change(GoodRun& run, const std::string& check, const std::function<bool(Record&)>& edit) {
  const std::string end = check == "link.rail" ? "link.counters" : check == "link.rdma" ? "link.rdma_counters" : "";
  for (Record& record : run.records) {
    if (record.check != check || !edit(record)) continue;
    record = judged({run.inventory, run.limits}, record);
    for (Record& last : run.records) {
      if (last.check != end || last.hosts != record.hosts || last.rail != record.rail) continue;
      last.sample["before"] = record.sample["now"];
      last = judged({run.inventory, run.limits}, last);
    }
  }
}

/// One direction of a pair.rail sample.
inline void slow_down(nlohmann::json& direction, double factor) {
  for (auto& point : direction["sweep"]) {
    point["bytes_per_s"] = point["bytes_per_s"].get<double>() * factor;
    point["elapsed_s"] = point["elapsed_s"].get<double>() / factor;
  }
}

/// "cause subject" of all primary findings that keep the gate shut, sorted.
inline std::vector<std::string> blamed(const GateResult& result) {
  std::vector<std::string> out;
  const auto add = [&](const Finding& finding) {
    if (finding.primary && !opens_gate(finding.verdict)) out.push_back(finding.cause + " " + to_string(finding.subject));
  };
  for (const NodeResult& node : result.nodes)
    for (const Finding& finding : node.findings) add(finding);
  for (const Finding& finding : result.findings) add(finding);
  std::sort(out.begin(), out.end());
  return out;
}

inline std::vector<std::string> verdicts(const GateResult& result) {
  std::vector<std::string> out;
  for (const NodeResult& node : result.nodes) out.push_back(to_string(node.verdict));
  return out;
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
