#pragma once
/// The outcome of a run as the gate folds it: per node, for the cluster, and what is missing. Writers turn it into the table
/// on the terminal, JUnit XML and the JSON summary.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/finding.hpp"
#include "results/record.hpp"
#include "results/verdict.hpp"

namespace fabricgate {

struct NodeResult {
  std::string name;
  bool required = true;
  Verdict verdict = Verdict::not_run;
  std::optional<Tier> left_in;        ///< first tier that did not open the gate; the node takes no part in later ones
  bool changed = false;               ///< by stage in this run
  bool lost_at_reboot = false;        ///< some of what is staged, now or before: nothing on the node keeps it
  std::map<Tier, Verdict> tiers;      ///< tiers with something to say about this node
  std::vector<Finding> findings;      ///< primary first
};

/// One expected (check × subject) without evidence.
struct Missing {
  std::string check;
  std::vector<std::string> hosts;
  std::string rail;
  std::string reason;  ///< "no record", or what the record gave as its reason
};
std::string to_string(const Missing& missing);

/// Bandwidth, latency and what they cost over all measured pairs of one rail; rail empty: the overlay.
struct PathSummary {
  std::string rail;
  bool rdma = false;  ///< else TCP
  std::size_t pairs = 0;
  double bytes_per_s_median = 0, bytes_per_s_min = 0;  ///< over directions
  double latency_s_median = 0, latency_s_max = 0;
  double cpu_s_per_byte_median = 0;  ///< over directions, threads of both ends together; 0: not told
};

struct GateResult {
  Verdict verdict = Verdict::inconclusive;
  ExitCode exit_code = ExitCode::inconclusive;
  std::string text;      ///< "READY", "READY (emulated)", "NOT READY", "INCONCLUSIVE"; "PASS of host, link alone" when `only`
  std::string reason;    ///< the first thing that keeps the gate shut; empty when open
  std::string coverage;  ///< "6 of 6 pairs on 2 rails"
  bool emulated = false;
  std::vector<Tier> only;  ///< what was demanded, when not the whole suite: then `text` never says READY
  std::vector<NodeResult> nodes;    ///< inventory order
  std::vector<Finding> findings;    ///< of the cluster: not one node's
  std::vector<Missing> missing;
  std::vector<PathSummary> paths;   ///< overlay first, then rails in order
  std::map<Tier, std::map<Verdict, std::size_t>> counts;  ///< records by tier and effective verdict
  std::size_t records = 0;
};

/// Table for a person: nodes folded (gpu[001-064]), tiers by verdict, findings with what to do, overlay beside rails.
std::string to_table(const GateResult& result);

/// Schema: results/README.md. One object, indented.
std::string to_summary(const GateResult& result, const RunIdentity& identity, const std::string& cluster);

/// One test suite per tier, one test case per node and tier; primary findings are failures, what was not measured is an
/// error, a skip is a skip. Valid XML whatever bytes the texts hold.
std::string to_junit(const GateResult& result, const RunIdentity& identity, const std::string& cluster);

}  // namespace fabricgate
