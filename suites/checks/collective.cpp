/// AllReduce over a set of nodes. Bound for N nodes of B bytes/s each and n ranks, without in-network reduction:
/// busbw <= B * N/(N-1) * (n-1)/n: at least 2(N-1)/N of the data must leave each node. A rank that takes no part, a wrong
/// element, a size that did not run: no figure is looked at.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/collective/collective_sample.hpp"
#include "fabric/collective/order.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

using fabric::CollectiveSample;

/// Rate of the slowest node over the rails the sample used; 0 when a rail is not declared.
double node_rate(const JudgeContext& context, const CollectiveSample& sample) {
  double slowest = 0;
  for (const std::string& host : sample.hosts) {
    const Node* node = context.node(host);
    double rate = 0;
    if (node == nullptr || !node->spec) return 0;
    for (const Rail& rail : node->spec->rails)
      if (sample.rail.empty() || rail.name == sample.rail) rate += rail.rate_bits_per_s / 8;
    if (rate == 0) return 0;
    slowest = slowest == 0 ? rate : std::min(slowest, rate);
  }
  return slowest;
}

/// The rail, where the hosts share one alone; else empty.
std::string only_rail(const JudgeContext& context, const std::vector<std::string>& hosts) {
  std::string only;
  const Node* first = context.node(hosts[0]);
  for (const Rail& rail : first && first->spec ? first->spec->rails : std::vector<Rail>{}) {
    const auto has = [&](const std::string& host) { return declared_rail(context.node(host), rail.name) != nullptr; };
    if (!std::all_of(hosts.begin(), hosts.end(), has)) continue;
    if (!only.empty()) return "";
    only = rail.name;
  }
  return only;
}

/// Empty, or what the sample lacks of the plan, of which launch changes the last size alone (judged_size).
std::string plan_problem(const CollectiveSample& sample) {
  static const fabric::CollectiveOrder plan;
  constexpr std::uint64_t most_bytes = 256 << 20;
  if (sample.points.size() != plan.steps.size()) return fmt::format("{} of {} planned sizes", sample.points.size(), plan.steps.size());
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const fabric::CollectivePoint& point = sample.points[i];
    const bool last = i + 1 == plan.steps.size();
    if (last ? point.bytes < plan.steps[i].bytes || point.bytes > most_bytes : point.bytes != plan.steps[i].bytes)
      return fmt::format("{} bytes are not a planned size", point.bytes);
    if (point.algorithm != fabric::to_string(plan.steps[i].algorithm)) return "algorithm '" + point.algorithm + "' was not planned for its size";
    if (point.iterations != plan.iterations) return fmt::format("{} iterations of {}", point.iterations, plan.iterations);
    elements += point.bytes / sizeof(float) * static_cast<std::uint64_t>(plan.iterations + plan.warmups);
  }
  elements *= static_cast<std::uint64_t>(sample.ranks);
  return sample.elements_checked == elements ? "" : fmt::format("{} elements checked of {}", sample.elements_checked, elements);
}

/// Empty, or why the numbers are no evidence.
std::string numbers_problem(const CollectiveSample& sample) {
  const double factor = 2.0 * (sample.ranks - 1) / sample.ranks;
  for (const fabric::CollectivePoint& point : sample.points) {
    if (!within(point.elapsed_s, 1e-9, 1e6) || !within(point.busbw_bytes_per_s, 1, 1e15))
      return "a time or bandwidth is not a positive number";
    const double implied = static_cast<double>(point.bytes) / point.elapsed_s * factor;
    if (!within(implied / point.busbw_bytes_per_s, 0.99, 1.01)) return "bandwidth, size and time contradict each other";
  }
  if (sample.rank_elapsed_s.size() != static_cast<std::size_t>(sample.ranks)) return "not every rank reported its time";
  for (double elapsed : sample.rank_elapsed_s)
    if (!within(elapsed, 1e-9, 1e6)) return "a rank's time is not a positive number";
  const double slowest = *std::max_element(sample.rank_elapsed_s.begin(), sample.rank_elapsed_s.end());
  if (!within(slowest / sample.points.back().elapsed_s, 0.99, 1.01)) return "the time is not that of the slowest rank";
  return "";
}

/// Rails of the sample that all its hosts declare.
std::set<std::string> rails_used(const JudgeContext& context, const CollectiveSample& sample) {
  std::set<std::string> rails;
  for (const Rail& rail : context.node(sample.hosts[0])->spec->rails)
    if (sample.rail.empty() || rail.name == sample.rail) rails.insert(rail.name);
  std::set<std::string> shared = rails;
  for (const std::string& rail : rails)
    for (const std::string& host : sample.hosts)
      if (declared_rail(context.node(host), rail) == nullptr) shared.erase(rail);
  return shared;
}

/// Empty, or why the bytes moved are not told. All ranks together send at least 2(n-1) times the data, whatever the algorithm.
std::string traffic_problem(const JudgeContext& context, const CollectiveSample& sample) {
  std::set<std::pair<std::string, std::string>> told;
  double sent = 0, received = 0, least = 0;
  for (const fabric::CollectiveTraffic& moved : sample.moved) {
    if (!told.emplace(moved.host, moved.rail).second) return "bytes of " + moved.host + " " + moved.rail + " are told twice";
    sent += static_cast<double>(moved.sent_bytes);
    received += static_cast<double>(moved.received_bytes);
  }
  const std::set<std::string> rails = rails_used(context, sample);
  for (const std::string& host : sample.hosts)
    for (const std::string& rail : rails)
      if (told.count({host, rail}) == 0) return host + " does not tell how much it moved over " + rail;
  for (const fabric::CollectivePoint& point : sample.points)
    least += 2.0 * (sample.ranks - 1) * static_cast<double>(point.bytes) * point.iterations;
  if (sent != received) return "more bytes were sent than received, or fewer";
  if (sent < least) return "fewer bytes were moved than the sizes need";
  return "";
}

std::string failure_problem(const CollectiveSample& sample) {
  const auto takes_part = [&](const std::string& host) { return host.empty() || std::find(sample.hosts.begin(), sample.hosts.end(), host) != sample.hosts.end(); };
  if (sample.error.empty() && !(sample.failed.host + sample.failed.peer + sample.failed.rail).empty()) return "a host is named for an error that is none";
  return takes_part(sample.failed.host) && takes_part(sample.failed.peer) ? "" : "the host named for the error takes no part";
}

std::vector<Finding> failures(const CollectiveSample& sample) {
  std::vector<Finding> findings;
  for (const std::string& host : sample.missing) {
    Subject subject;
    subject.host = host;
    findings.push_back(make_finding("collective.failed", subject, "takes part", "did not arrive"));
  }
  if (!sample.error.empty() && findings.empty()) {
    const Subject subject{.host = sample.failed.host, .rail = sample.failed.rail, .peer = sample.failed.peer};
    findings.push_back(make_finding("collective.failed", subject, "an end", sample.error));
  }
  if (sample.elements_wrong > 0)
    findings.push_back(make_finding("bench.data_wrong", {}, "no wrong element",
                                    std::to_string(sample.elements_wrong) + " of " + std::to_string(sample.elements_checked) +
                                        (sample.first_wrong.empty() ? "" : "; " + sample.first_wrong)));
  return findings;
}

Finding slow(const CollectiveSample& sample, double floor, double bound, double busbw) {
  Subject subject;
  subject.rail = sample.rail;
  Finding finding = make_finding("collective.below_floor", subject,
                                 "at least " + rate_text(floor) + " of the bound " + rate_text(bound) + " for " +
                                     std::to_string(sample.hosts.size()) + " nodes",
                                 rate_text(busbw));
  const auto last = std::max_element(sample.rank_elapsed_s.begin(), sample.rank_elapsed_s.end());
  finding.evidence.push_back({-1, "rank " + std::to_string(last - sample.rank_elapsed_s.begin()) + " took longest: " + time_text(*last)});
  return finding;
}

}  // namespace

Judgement judge_collective(const JudgeContext& context, const Record& record) {
  if (!record.sample.is_object()) return unusable(record, "sample is not an object");
  const auto sample = fabric::collective_sample_from_json(record.sample);
  if (!sample) return unusable(record, sample.error().what);
  if (sample->hosts != record.hosts) return unusable(record, "sample is about other hosts than the record");
  if (std::set<std::string>(sample->hosts.begin(), sample->hosts.end()).size() != sample->hosts.size())
    return unusable(record, "a host is named twice");
  if (const std::string problem = failure_problem(*sample); !problem.empty()) return unusable(record, problem);
  std::vector<Finding> findings = failures(*sample);
  if (!findings.empty()) return decide(std::move(findings));
  if (sample->hosts.size() < 2) return unusable(record, "a collective needs two nodes");
  if (sample->engine.rfind("ucx", 0) != 0) return unusable(record, "measured by '" + sample->engine + "', which is no engine of this check");
  if (sample->rail != only_rail(context, sample->hosts)) return unusable(record, "measured over rail '" + sample->rail + "' and not over all that its hosts share");
  if (!sample->first_wrong.empty()) return unusable(record, "a wrong element is named and none counted");
  if (sample->ranks != static_cast<int>(sample->hosts.size()))
    return unusable(record, std::to_string(sample->ranks) + " ranks on " + std::to_string(sample->hosts.size()) + " hosts");
  if (const std::string problem = plan_problem(*sample); !problem.empty()) return unusable(record, problem);
  if (const std::string problem = numbers_problem(*sample); !problem.empty()) return unusable(record, problem);
  const Limit* share = context.limits.find("collective.busbw_share");
  if (share == nullptr || !share->low || !share->high) return limit_missing(record, "collective.busbw_share");
  const double rate = node_rate(context, *sample);
  if (rate <= 0) return unusable(record, "the rails used are not declared for every host");
  if (const std::string traffic = traffic_problem(context, *sample); !traffic.empty()) return unusable(record, traffic);
  const double nodes = static_cast<double>(sample->hosts.size()), ranks = sample->ranks;
  const double bound = rate * nodes / (nodes - 1) * (ranks - 1) / ranks;
  const double busbw = sample->points.back().busbw_bytes_per_s;
  if (busbw > *share->high * bound)
    findings.push_back(held_against(impossible({}, "at most " + rate_text(*share->high * bound), rate_text(busbw)),
                                    "collective.busbw_share", *share));
  else if (busbw < *share->low * bound)
    findings.push_back(
        held_against(slow(*sample, *share->low * bound, bound, busbw), "collective.busbw_share", *share));
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
