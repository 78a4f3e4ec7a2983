/// Bandwidth, latency and content of the path between two nodes: pair.rail over one rail, pair.overlay over the management
/// network. Numbers that cannot be are rejected before any threshold, so that no error of a tool looks like speed.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/round/order.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

struct PairView {
  const JudgeContext& context;
  const Record& record;
  fabric::PairSample sample;
  double rate_bytes_per_s = 0;  ///< of the slower end, 0 for the overlay
  bool rdma = true;             ///< both ends declare a device, of a rail
};

/// What every round of the pair tier is told to measure (launch changes the times alone): what a whole sample holds.
const fabric::RoundOrder& plan() {
  static const fabric::RoundOrder order;
  return order;
}

Result<PairView> read_view(const JudgeContext& context, const Record& record) {
  const auto no = [](const std::string& what) { return Error{ErrorKind::parse, what, 0}; };
  if (record.hosts.size() != 2 || record.hosts[0] == record.hosts[1]) return no("the record does not name two hosts");
  if (!record.sample.is_object()) return no("sample is not an object");
  auto sample = fabric::pair_sample_from_json(record.sample);
  if (!sample) return sample.error();
  if (sample->a != record.hosts[0] || sample->b != record.hosts[1] || sample->rail != record.rail)
    return no("sample is about another pair or rail than the record");
  if (sample->engine.find(record.rail.empty() ? "tcp" : "ucx") != 0) return no("measured by '" + sample->engine + "', which is not an engine of this check");
  if (record.attempt == 0 && sample->mode != fabric::PairMode::together)
    return no("a planned measurement in a mode of repetitions");
  if (!within(sample->concurrent_pairs, 1, static_cast<double>(context.inventory.nodes.size()))) return no("the number of pairs in the round cannot be");
  if (sample->error.empty() && !sample->error_host.empty()) return no("a host is named for an error that is none");
  PairView view{context, record, std::move(*sample), 0};
  for (const std::string& host : record.hosts) {
    const Node* node = context.node(host);
    if (node == nullptr) return no(host + " is not in the inventory");
    if (record.check == "pair.overlay") continue;
    const Rail* rail = declared_rail(node, record.rail);
    if (rail == nullptr) return no("rail '" + record.rail + "' is not declared for " + host);
    view.rdma = view.rdma && !rail->device.empty();
    const double rate = rail->rate_bits_per_s / 8;
    view.rate_bytes_per_s = view.rate_bytes_per_s == 0 ? rate : std::min(view.rate_bytes_per_s, rate);
  }
  if (view.sample.rdma_skipped.empty() != (record.check == "pair.overlay" || view.rdma)) return no("whether RDMA is measured beside it contradicts the declaration");
  return view;
}

bool is_tcp(const fabric::PairSample& sample) { return sample.engine.find("tcp") != std::string::npos; }

/// The pair, or one direction of it seen from its sender.
Subject subject_of(const PairView& v, int direction = -1) {
  Subject subject;
  subject.host = direction == 1 ? v.sample.b : v.sample.a;
  subject.peer = direction == 1 ? v.sample.a : v.sample.b;
  subject.rail = v.sample.rail;
  if (direction >= 0) subject.direction = "tx";
  return subject;
}

/// Empty, or why a sweep of `sizes` is no evidence.
std::string sweep_problem(const fabric::DirectionSample& direction, const std::vector<std::uint64_t>& sizes, double window_s) {
  const auto planned = [](const fabric::SizePoint& point, std::uint64_t bytes) { return point.bytes == bytes; };
  if (!std::equal(direction.sweep.begin(), direction.sweep.end(), sizes.begin(), sizes.end(), planned))
    return fmt::format("measured with other message sizes than the planned {}", fmt::join(sizes, ", "));
  double moved = 0;
  for (const fabric::SizePoint& point : direction.sweep) {
    if (!within(point.bytes_per_s, 1, 1e15)) return "a bandwidth is not a positive number";
    if (!within(point.elapsed_s, 1e-9, 1e6)) return "a measured time is not a positive number";
    if (point.messages == 0) return "a size was measured with no message";
    const double implied = static_cast<double>(point.messages) * static_cast<double>(point.bytes) / point.elapsed_s;
    if (!within(implied / point.bytes_per_s, 0.99, 1.01)) return "bandwidth, messages and time contradict each other";
    moved += static_cast<double>(point.messages) * static_cast<double>(point.bytes);
  }
  if (static_cast<double>(direction.received_bytes) < moved || direction.sent_bytes != direction.received_bytes)
    return "the bytes sent, received and measured contradict each other";
  if (direction.sweep.back().elapsed_s < window_s)
    return "largest size measured for " + time_text(direction.sweep.back().elapsed_s) + ", at least " + time_text(window_s) + " are needed";
  if (!within(direction.longest_gap_s, 0, 2 * plan().stall_s)) return "the longest gap is not a time, or would have ended the transfer";
  if (!within(direction.sent_cpu_s_per_byte, 0, 1) || !within(direction.received_cpu_s_per_byte, 0, 1)) return "processor time that cannot be";
  if (direction.retransmitted > direction.segments) return "more segments were sent again than sent";
  if (direction.payload_checked < sizes.size()) return "no payload was checked of some size";
  if (direction.payload_errors > direction.payload_checked) return "more payload was wrong than checked";
  if (!direction.first_wrong.empty() && direction.payload_errors == 0) return "a wrong message is named and none counted";
  return "";
}

/// Findings of one direction; an impossible or unusable number gives a reason instead.
std::string judge_direction(const PairView& v, int index, std::vector<Finding>& findings) {
  const fabric::DirectionSample& direction = index == 0 ? v.sample.a_to_b : v.sample.b_to_a;
  if (!direction.error.empty()) {
    findings.push_back(make_finding("pair.transfer_failed", subject_of(v, index), "a transfer that ends", direction.error));
    return "";
  }
  const Limit* window = v.context.limits.find("pair.window");
  const std::string problem = sweep_problem(direction, plan().sizes, *window->low);
  if (!problem.empty()) return subject_of(v, index).host + " sending: " + problem;
  if (direction.payload_errors > 0)
    findings.push_back(make_finding("bench.data_wrong", subject_of(v, index), "no wrong message",
                                    std::to_string(direction.payload_errors) + " of " + std::to_string(direction.payload_checked)));
  if (v.rate_bytes_per_s <= 0) return "";
  if (direction.segments == 0 && is_tcp(v.sample)) return subject_of(v, index).host + " sending: TCP segments sent again were not counted";
  const Limit& again = *v.context.limits.find("pair.retransmit_share");
  if (fabric::retransmitted(direction, *again.high))
    findings.push_back(settled(
        v.sample, held_against(make_finding("pair.packet_loss", subject_of(v, index),
                                     percent_text(*again.high) + " of TCP segments sent again at most",
                                     std::to_string(direction.retransmitted) + " of " +
                                         std::to_string(direction.segments) + ", at longest nothing arrived for " +
                                         time_text(direction.longest_gap_s)),
                        "pair.retransmit_share", again)));
  const Limit* share = v.context.limits.find("pair.bandwidth_share");
  const double measured = direction.sweep.back().bytes_per_s;
  const auto add = [&](Finding finding) {
    findings.push_back(held_against(std::move(finding), "pair.bandwidth_share", *share));
  };
  if (measured > *share->high * v.rate_bytes_per_s)
    add(impossible(subject_of(v, index), "at most " + rate_text(*share->high * v.rate_bytes_per_s),
                   rate_text(measured)));
  else if (measured < *share->low * v.rate_bytes_per_s)
    add(make_finding("pair.below_floor", subject_of(v, index),
                     "at least " + rate_text(*share->low * v.rate_bytes_per_s) + " of " + rate_text(v.rate_bytes_per_s),
                     rate_text(measured)));
  return "";
}

/// What one direction carried, as judged.
double carried(const fabric::DirectionSample& direction) {
  return direction.sweep.back().bytes_per_s;
}

/// The same of the time in which something arrived.
double carried_awake(const fabric::DirectionSample& direction) {
  const double elapsed = direction.sweep.back().elapsed_s, awake = elapsed - direction.longest_gap_s;
  return awake > 0 ? carried(direction) * elapsed / awake : 0;
}

/// Both directions at once against the sum of what each carried by itself, so that a slow direction is not called half
/// duplex.
std::string judge_both(const PairView& v, std::vector<Finding>& findings) {
  const fabric::DirectionSample* both[] = {&v.sample.a_to_b_both, &v.sample.b_to_a_both};
  for (int i : {0, 1}) {
    if (!both[i]->error.empty()) {
      findings.push_back(
          make_finding("pair.transfer_failed", subject_of(v, i), "both directions at once end", both[i]->error));
      return "";
    }
    const std::string problem = sweep_problem(*both[i], {fabric::both_bytes(plan())}, *v.context.limits.find("pair.window")->low);
    if (!problem.empty()) return "both directions at once, " + subject_of(v, i).host + " sending: " + problem;
    if (both[i]->payload_errors > 0)
      findings.push_back(
          make_finding("bench.data_wrong", subject_of(v, i), "no wrong message",
                       std::to_string(both[i]->payload_errors) + " of " + std::to_string(both[i]->payload_checked)));
  }
  const Limit& share = *v.context.limits.find("pair.both_share");
  const BothRun run = judge_both_run(share, v.sample);
  if (!run.low) return "";
  const double apart = carried(v.sample.a_to_b) + carried(v.sample.b_to_a), sum = carried(*both[0]) + carried(*both[1]);
  Finding finding = run.silent_s > 0 ? make_finding("pair.stalls", subject_of(v), "data arrives without a pause",
                                                    "nothing for " + time_text(run.silent_s) + " with both directions at once, " + rate_text(sum) + " of " + rate_text(apart))
                                     : make_finding("pair.half_duplex", subject_of(v), "both directions at once at least " + percent_text(*share.low) + " of " + rate_text(apart), rate_text(sum));
  findings.push_back(settled(v.sample, held_against(std::move(finding), "pair.both_share", share)));
  return "";
}

std::string judge_latency(const PairView& v, const std::string& metric, std::vector<Finding>& findings) {
  const Limit& limit = *v.context.limits.find(metric);
  const double p50 = v.sample.latency_p50_s, p99 = v.sample.latency_p99_s;
  if (v.sample.latency_iterations == 0) return "latency was not measured";
  if (!within(p50, 0, plan().stall_s) || !within(p99, 0, plan().stall_s) || p99 < p50)
    return "latencies are not ordered positive numbers below the time after which a path counts as dead";
  const Limit& tail = *v.context.limits.find("pair.latency_tail");
  if (p99 > *tail.high)
    findings.push_back(held_against(make_finding("pair.latency_high", subject_of(v), "99 of 100 messages within " + time_text(*tail.high), time_text(p99)), "pair.latency_tail", tail));
  if (p50 < *limit.low)
    findings.push_back(
        held_against(impossible(subject_of(v), "at least " + time_text(*limit.low), time_text(p50)), metric, limit));
  else if (limit.high && p50 > *limit.high)
    findings.push_back(held_against(
        make_finding("pair.latency_high", subject_of(v), "at most " + time_text(*limit.high), time_text(p50)), metric,
        limit));
  return "";
}

std::string first_missing_limit(const JudgeContext& context, const std::string& latency, bool rail) {
  const auto has_low = [&](const char* metric) {
    const Limit* limit = context.limits.find(metric);
    return limit != nullptr && limit->low;
  };
  if (!has_low("pair.window")) return "pair.window";
  if (context.limits.find("pair.latency_tail") == nullptr || !context.limits.find("pair.latency_tail")->high) return "pair.latency_tail";
  if (!has_low(latency.c_str()) || (rail && !context.limits.find(latency)->high)) return latency;
  if (!rail && !has_low("overlay.rate_share")) return "overlay.rate_share";
  if (rail && (!has_low("pair.bandwidth_share") || !context.limits.find("pair.bandwidth_share")->high)) return "pair.bandwidth_share";
  if (rail && !has_low("pair.both_share")) return "pair.both_share";
  if (rail &&
      (context.limits.find("pair.retransmit_share") == nullptr || !context.limits.find("pair.retransmit_share")->high))
    return "pair.retransmit_share";
  return "";
}

Judgement judge_path(const JudgeContext& context, const Record& record, bool rail) {
  const auto view = read_view(context, record);
  if (!view) return unusable(record, view.error().what);
  const std::string latency = !rail ? "pair.overlay_latency" : is_tcp(view->sample) ? "pair.latency_tcp" : "pair.latency";
  std::string missing = first_missing_limit(context, latency, rail);
  if (missing.empty() && rail) missing = missing_flow_limit(context.limits);
  if (!missing.empty()) return limit_missing(record, missing);
  std::vector<Finding> findings;
  const std::string of_flows = rail ? judge_flows(context, view->sample, findings) : "";
  if (!view->sample.error.empty()) {
    Subject subject = subject_of(*view);
    if (view->sample.error_host == view->sample.b) std::swap(subject.host, subject.peer);
    findings.push_back(make_finding("pair.unreachable", subject, "a connection", view->sample.error));
    return decide(std::move(findings));
  }
  if (!of_flows.empty()) return unusable(record, of_flows);
  if (view->sample.flows_a_to_b.dead() || view->sample.flows_b_to_a.dead()) return decide(std::move(findings));  // nothing was streamed
  for (int direction : {0, 1}) {
    const std::string reason = judge_direction(*view, direction, findings);
    if (!reason.empty()) return unusable(record, reason);
  }
  const bool stopped = !view->sample.a_to_b.error.empty() || !view->sample.b_to_a.error.empty();
  std::string reason = stopped ? "" : judge_latency(*view, latency, findings);
  if (reason.empty() && rail && !stopped) reason = judge_both(*view, findings);
  if (!reason.empty()) return unusable(record, reason);
  return decide(std::move(findings));
}

}  // namespace

BothRun judge_both_run(const Limit& share, const fabric::PairSample& sample) {
  const double apart = carried(sample.a_to_b) + carried(sample.b_to_a);
  BothRun run{.share = (carried(sample.a_to_b_both) + carried(sample.b_to_a_both)) / apart};
  run.low = run.share < *share.low;
  const double awake = carried_awake(sample.a_to_b_both) + carried_awake(sample.b_to_a_both);
  if (run.low && awake >= *share.low * apart) run.silent_s = std::max(sample.a_to_b_both.longest_gap_s, sample.b_to_a_both.longest_gap_s);
  return run;
}

Judgement judge_pair_rail(const JudgeContext& context, const Record& record) { return judge_path(context, record, true); }

Judgement judge_pair_overlay(const JudgeContext& context, const Record& record) { return judge_path(context, record, false); }

}  // namespace fabricgate::suites
