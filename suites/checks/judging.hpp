#pragma once
/// What all judges share. A judge is pure: sample and declaration in, findings out. Only for suites/checks.
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "fabric/pairs/frame_loss.hpp"
#include "suites/check.hpp"

namespace fabricgate::suites {

/// "pair.bandwidth_share 0.85 to 1.1: shaped rate minus headers"
std::string limit_text(const std::string& metric, const Limit& limit);

/// The sample is no evidence: `reason` names the value and why.
inline Judgement unusable(const Record& record, const std::string& reason) {
  Judgement judgement{Verdict::inconclusive, reason, {}};
  Subject subject;
  if (!record.hosts.empty()) subject.host = record.hosts[0];
  if (record.hosts.size() == 2) subject.peer = record.hosts[1];
  subject.rail = record.rail;
  judgement.findings.push_back(make_finding("gate.sample_unusable", subject, "a sample of " + record.check, reason));
  return judgement;
}

inline Judgement limit_missing(const Record& record, const std::string& metric) {
  Judgement judgement = unusable(record, "no limit for " + metric);
  judgement.findings[0].cause = "gate.limit_missing";
  judgement.findings[0].expected = "a limit for " + metric;
  judgement.findings[0].found = "none";
  return judgement;
}

/// Verdict = worst finding; pass when there is none.
inline Judgement decide(std::vector<Finding> findings) {
  Judgement judgement;
  judgement.verdict = worst(findings);
  if (judgement.verdict == Verdict::inconclusive && !findings.empty()) judgement.reason = findings[0].found;
  judgement.findings = std::move(findings);
  return judgement;
}

/// bench.impossible_number as inconclusive: such a figure is rejected before any threshold.
inline Finding impossible(Subject subject, const std::string& expected, const std::string& found) {
  Finding finding = make_finding("bench.impossible_number", std::move(subject), expected, found);
  finding.verdict = Verdict::inconclusive;
  return finding;
}

/// The finding with the limit it was held against, its value and its source.
inline Finding held_against(Finding finding, const std::string& metric, const Limit& limit) {
  finding.limit = limit_text(metric, limit);
  return finding;
}

/// Finite and within [low, high].
inline bool within(double value, double low, double high) { return std::isfinite(value) && value >= low && value <= high; }

inline const Rail* declared_rail(const Node* node, const std::string& rail) {
  if (node == nullptr || !node->spec) return nullptr;
  for (const Rail& candidate : node->spec->rails)
    if (candidate.name == rail) return &candidate;
  return nullptr;
}

/// "941.2 Mb/s", "46.8 us": for expected and found.
std::string rate_text(double bytes_per_s);
std::string time_text(double seconds);
/// "0.1 %"
std::string percent_text(double share);

/// nullopt when the limits have none for counted frames.
std::optional<fabric::LossLimits> loss_limits(const Limits& limits);

/// What is wrong with the way on which the asker's kernel sends to the address; nullopt: nothing that the record shows.
struct WrongWay {
  bool by_route = false;  ///< else by its neighbour entry
  std::string expected, found;
};
std::optional<WrongWay> wrong_way(const fabric::ReachAnswer& answer, const Rail& own);

/// Payload that a TCP segment between two rails must have room for, by their declared MTUs; see pair_flows.cpp.
std::uint64_t least_segment(const Rail& a, const Rail& b);
/// Both directions at once, against the sum of what each carried by itself.
struct BothRun {
  double share = 0;    ///< of that sum
  bool low = false;    ///< below the limit
  double silent_s = 0; ///< low for that alone: for so long nothing arrived, and without it the share is good. Half duplex
                       ///< is not that: frames go on to arrive.
};
BothRun judge_both_run(const Limit& share, const fabric::PairSample& sample);

/// Share of connections that came late, and how many times longer than usual the slowest one's burst took, where that
/// is more than the limits allow.
std::optional<double> too_many_late(const Limits& limits, const fabric::FlowCount& count);
std::optional<double> too_slow(const Limits& limits, const fabric::FlowCount& count);
/// The limit of connections that is missing; empty: none.
std::string missing_flow_limit(const Limits& limits);

/// With others running, queues and processors are shared: such a finding warns, and fails the path once it is seen
/// alone.
inline Finding settled(const fabric::PairSample& sample, Finding finding) {
  finding.verdict = sample.mode == fabric::PairMode::together ? Verdict::warn : Verdict::fail;
  return finding;
}

/// Findings about the many short connections of a rail, which are tried before anything is streamed; a reason when their
/// counts are no evidence.
std::string judge_flows(const JudgeContext& context, const fabric::PairSample& sample, std::vector<Finding>& findings);

Judgement judge_stage_node(const JudgeContext& context, const Record& record);
Judgement judge_host_facts(const JudgeContext& context, const Record& record);
Judgement judge_host_fleet(const JudgeContext& context, const Record& record);
Judgement judge_link_rail(const JudgeContext& context, const Record& record);
Judgement judge_link_counters(const JudgeContext& context, const Record& record);
Judgement judge_link_rdma(const JudgeContext& context, const Record& record);
Judgement judge_link_rdma_counters(const JudgeContext& context, const Record& record);
Judgement judge_link_cabling(const JudgeContext& context, const Record& record);
Judgement judge_pair_reach(const JudgeContext& context, const Record& record);
Judgement judge_pair_rail(const JudgeContext& context, const Record& record);
Judgement judge_pair_rdma(const JudgeContext& context, const Record& record);
Judgement judge_pair_overlay(const JudgeContext& context, const Record& record);
Judgement judge_collective(const JudgeContext& context, const Record& record);

}  // namespace fabricgate::suites
