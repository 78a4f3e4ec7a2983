/// RDMA between two nodes over one rail (pair.rdma): it came through, with the bytes that were sent, at the rate and
/// with the latency that the limits demand. What cannot be of a measurement as planned is no evidence.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/round/order.hpp"
#include "fabric/verbs/verbs_sample.hpp"
#include "inventory/desired/desired.hpp"
#include "inventory/observe/rdma_text.hpp"
#include "results/cause.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

/// What every round is told to measure (launch changes the times alone).
const fabric::RoundOrder& plan() {
  static const fabric::RoundOrder order;
  return order;
}

struct RdmaPath {
  const JudgeContext& context;
  fabric::VerbsSample sample;
  const Rail *a = nullptr, *b = nullptr;

  double rate_bytes_per_s() const { return std::min(a->rate_bits_per_s, b->rate_bits_per_s) / 8; }
  const Limit& limit(const char* metric) const { return *context.limits.find(metric); }
  /// The pair, seen from this end.
  Subject subject(bool of_a) const {
    return {.host = of_a ? sample.a : sample.b,
            .device = of_a ? a->device : b->device,
            .rail = sample.rail,
            .peer = of_a ? sample.b : sample.a};
  }
};

Result<RdmaPath> read_path(const JudgeContext& context, const Record& record) {
  const auto no = [](const std::string& what) { return Error{ErrorKind::parse, what, 0}; };
  if (record.hosts.size() != 2 || record.hosts[0] == record.hosts[1]) return no("the record does not name two hosts");
  if (!record.sample.is_object()) return no("sample is not an object");
  auto sample = fabric::verbs_sample_from_json(record.sample);
  if (!sample) return sample.error();
  if (sample->a != record.hosts[0] || sample->b != record.hosts[1] || sample->rail != record.rail)
    return no("sample is about another pair or rail than the record");
  if (record.attempt == 0 && sample->mode != fabric::PairMode::together)
    return no("a planned measurement in a mode of repetitions");
  if (!within(sample->concurrent_pairs, 1, static_cast<double>(context.inventory.nodes.size())))
    return no("the number of pairs in the round cannot be");
  RdmaPath path{context, std::move(*sample), declared_rail(context.node(record.hosts[0]), record.rail),
                declared_rail(context.node(record.hosts[1]), record.rail)};
  for (const Rail* rail : {path.a, path.b})
    if (rail == nullptr || rail->device.empty()) return no("the rail is not declared with an RDMA device at both ends");
  return path;
}

/// Why an end is not the declared one, or empty.
std::string end_problem(const RdmaPath& path, bool of_a) {
  const fabric::VerbsEnd& end = of_a ? path.sample.a_end : path.sample.b_end;
  const Rail& rail = of_a ? *path.a : *path.b;
  const bool infiniband = rail.link_layer == LinkLayer::infiniband;
  if (end.device != rail.device) return "measured with device '" + end.device + "', declared is " + rail.device;
  if (end.port < 1 || end.memory.empty()) return "port or memory of the device are not told";
  if (end.link_layer != (infiniband ? "InfiniBand" : "Ethernet"))
    return "measured over link layer '" + end.link_layer + "'";
  for (std::uint64_t mtu = 256; mtu != end.mtu_bytes; mtu *= 2)
    if (mtu >= 4096) return "an active MTU that no port has";
  const auto index = path.context.find(of_a ? path.sample.a : path.sample.b);
  if (infiniband) return "";
  const auto address = gid_ipv4(end.gid);
  return end.gid_index >= 0 && index && address && *address == rail_address(rail, *index)
             ? ""
             : "measured with GID '" + end.gid + "', which is not of the rail's address";
}

/// Why one direction is no evidence, or empty.
std::string flow_problem(const fabric::VerbsFlow& flow, double window_s) {
  if (!within(flow.bytes_per_s, 1, 1e15)) return "a bandwidth is not a positive number";
  if (!within(flow.elapsed_s, window_s, 1e6))
    return "measured for " + time_text(flow.elapsed_s) + ", at least " + time_text(window_s) + " are needed";
  const double implied = static_cast<double>(flow.messages) * static_cast<double>(fabric::rdma_bytes) / flow.elapsed_s;
  if (!within(implied / flow.bytes_per_s, 0.99, 1.01)) return "bandwidth, messages and time contradict each other";
  if (!within(flow.cpu_s, 1e-9, 1.2 * flow.elapsed_s + 0.05))
    return "processor time that a thread which polls cannot have taken";
  if (flow.payload_checked == 0) return "no payload was compared";
  if (flow.payload_errors > flow.payload_checked) return "more payload was wrong than compared";
  return flow.first_wrong.empty() == (flow.payload_errors == 0)
             ? ""
             : "wrong payload and the first of it contradict each other";
}

std::string latency_problem(const fabric::VerbsLatency& latency) {
  constexpr std::uint64_t least =
      fabric::least_round_trips - fabric::least_round_trips / 10 - 1;  // the first tenth warms up
  if (latency.operation != fabric::Operation::write || latency.bytes != fabric::rdma_latency_bytes ||
      latency.iterations < least || latency.iterations > fabric::most_round_trips)
    return "latency was measured otherwise than planned";
  const double ordered[] = {latency.min_s, latency.p50_s, latency.p90_s, latency.p99_s, latency.p999_s, latency.max_s};
  const bool possible = within(latency.min_s, 1e-12, plan().stall_s) && within(latency.max_s, 0, plan().stall_s) &&
                        within(latency.mean_s, latency.min_s, latency.max_s);
  return possible && std::is_sorted(std::begin(ordered), std::end(ordered))
             ? ""
             : "latencies are not ordered positive numbers below the time after which a path counts as dead";
}

/// Why a sample without a failure is no evidence, or empty.
std::string sample_problem(const RdmaPath& path) {
  const fabric::VerbsSample& sample = path.sample;
  if (!(sample.failure == fabric::VerbsFailure{})) return "a failure without a cause";
  for (const bool of_a : {true, false})
    if (const std::string problem = end_problem(path, of_a); !problem.empty())
      return (of_a ? sample.a : sample.b) + ": " + problem;
  if (sample.path_mtu_bytes != std::min(sample.a_end.mtu_bytes, sample.b_end.mtu_bytes))
    return "MTU of the path and of its ends contradict each other";
  if (sample.rates.size() != 1 || sample.latencies.size() != 1) return "more or less was measured than planned";
  const fabric::VerbsRate& rate = sample.rates[0];
  if (rate.operation != fabric::Operation::write || rate.bytes != fabric::rdma_bytes || rate.qps != 1 || rate.both)
    return "bandwidth was measured otherwise than planned";
  const double window_s = *path.limit("pair.window").low;
  for (const auto& [host, flow] : {std::pair{&sample.a, &rate.a_to_b}, {&sample.b, &rate.b_to_a}})
    if (const std::string problem = flow_problem(*flow, window_s); !problem.empty())
      return *host + " writing: " + problem;
  return latency_problem(sample.latencies[0]);
}

/// What came in the way. Where an end could not be opened it is that end's alone; else it is of the path.
std::optional<Finding> failure_finding(const RdmaPath& path) {
  const fabric::VerbsFailure& failure = path.sample.failure;
  const bool of_a = failure.host == path.sample.a;
  if (find_cause(failure.cause) == nullptr || (!of_a && failure.host != path.sample.b)) return {};
  Subject subject = path.subject(of_a);
  if (path.sample.path_mtu_bytes == 0 && failure.cause != "launch.rank_silent" && failure.cause != "pair.unreachable")
    subject.peer.clear();
  Finding finding = make_finding(failure.cause, subject, "RDMA writes over the rail",
                                 failure.step.empty() ? failure.what : failure.step + ": " + failure.what);
  if (finding.verdict != Verdict::fail && finding.verdict != Verdict::blocked) finding.verdict = Verdict::fail;
  return finding;
}

void judge_flow(const RdmaPath& path, bool of_a, std::vector<Finding>& findings) {
  const fabric::VerbsFlow& flow = of_a ? path.sample.rates[0].a_to_b : path.sample.rates[0].b_to_a;
  Subject subject = path.subject(of_a);
  subject.direction = "tx";
  if (flow.payload_errors > 0)
    findings.push_back(
        make_finding("bench.data_wrong", subject, "no wrong message over RDMA",
                     fmt::format("{} of {}; {}", flow.payload_errors, flow.payload_checked, flow.first_wrong)));
  const Limit& share = path.limit("pair.rdma_share");
  const double rate = path.rate_bytes_per_s(), low = *share.low * rate, high = *share.high * rate;
  if (flow.bytes_per_s > high)
    findings.push_back(held_against(impossible(subject, "at most " + rate_text(high), rate_text(flow.bytes_per_s)),
                                    "pair.rdma_share", share));
  else if (flow.bytes_per_s < low)
    findings.push_back(
        held_against(make_finding("rdma.below_floor", subject, "at least " + rate_text(low) + " of " + rate_text(rate),
                                  rate_text(flow.bytes_per_s)),
                     "pair.rdma_share", share));
}

void judge_latency(const RdmaPath& path, std::vector<Finding>& findings) {
  const fabric::VerbsLatency& latency = path.sample.latencies[0];
  const Limit &limit = path.limit("pair.latency"), &tail = path.limit("pair.latency_tail");
  const Subject subject = path.subject(true);
  if (latency.p50_s < *limit.low)
    findings.push_back(held_against(impossible(subject, "at least " + time_text(*limit.low), time_text(latency.p50_s)),
                                    "pair.latency", limit));
  else if (latency.p50_s > *limit.high)
    findings.push_back(held_against(
        make_finding("rdma.latency_high", subject, "at most " + time_text(*limit.high), time_text(latency.p50_s)),
        "pair.latency", limit));
  if (latency.p99_s > *tail.high)
    findings.push_back(
        held_against(make_finding("rdma.latency_high", subject, "99 of 100 writes within " + time_text(*tail.high),
                                  time_text(latency.p99_s)),
                     "pair.latency_tail", tail));
}

std::string first_missing_limit(const Limits& limits) {
  const auto has = [&](const char* metric, bool low, bool high) {
    const Limit* limit = limits.find(metric);
    return limit != nullptr && (!low || limit->low) && (!high || limit->high);
  };
  if (!has("pair.window", true, false)) return "pair.window";
  if (!has("pair.rdma_share", true, true)) return "pair.rdma_share";
  if (!has("pair.latency", true, true)) return "pair.latency";
  return has("pair.latency_tail", false, true) ? "" : "pair.latency_tail";
}

}  // namespace

Judgement judge_pair_rdma(const JudgeContext& context, const Record& record) {
  const auto path = read_path(context, record);
  if (!path) return unusable(record, path.error().what);
  if (const std::string missing = first_missing_limit(context.limits); !missing.empty())
    return limit_missing(record, missing);
  if (!path->sample.failure.cause.empty()) {
    auto finding = failure_finding(*path);
    return finding ? decide({std::move(*finding)}) : unusable(record, "a failure of no known cause or host");
  }
  if (const std::string problem = sample_problem(*path); !problem.empty()) return unusable(record, problem);
  std::vector<Finding> findings;
  for (const bool of_a : {true, false}) judge_flow(*path, of_a, findings);
  judge_latency(*path, findings);
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
