#pragma once
/// The gate: records in, verdicts out. A pure fold; what must be there comes from inventory × suite, never from the
/// records found, so that a missing line is as good as a failed one. Method: gate.cpp.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suites/gate/exhibit.hpp"

namespace fabricgate::suites {

struct NodeResult {
  std::string name;
  bool required = true;
  Verdict verdict = Verdict::not_run;
  std::optional<Tier> left_in;        ///< first tier that did not open the gate; the node takes no part in later ones
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

/// Bandwidth and latency over all measured pairs of one rail; rail empty: the overlay.
struct PathSummary {
  std::string rail;
  std::string engine_note;
  std::size_t pairs = 0;
  double bytes_per_s_median = 0, bytes_per_s_min = 0;  ///< over directions
  double latency_s_median = 0, latency_s_max = 0;
};

struct GateResult {
  Verdict verdict = Verdict::inconclusive;
  ExitCode exit_code = ExitCode::inconclusive;
  std::string text;      ///< "READY", "READY (emulated)", "NOT READY", "INCONCLUSIVE"
  std::string reason;    ///< the first thing that keeps the gate shut; empty when open
  std::string coverage;  ///< "6 of 6 pairs on 2 rails"
  bool emulated = false;
  std::vector<NodeResult> nodes;    ///< inventory order
  std::vector<Finding> findings;    ///< of the cluster: not one node's
  std::vector<Missing> missing;
  std::vector<PathSummary> paths;   ///< overlay first, then rails in order
  std::map<Tier, std::map<Verdict, std::size_t>> counts;  ///< records by tier and effective verdict
  std::size_t records = 0;
};

GateResult gate(const GateInput& input, const std::vector<RecordFile>& files);
/// The same from exhibits already read.
GateResult gate(const GateInput& input, const Exhibits& exhibits);

}  // namespace fabricgate::suites
