/// What the port's own counters did between the start and the end of a run (link.rdma_counters). Counters of the port
/// (counters/) stop at the largest value of their width and stay there; what a provider does not count is named in the
/// reason of the record and is no fault. A count that ran backwards was reset or has wrapped: nobody knows what it missed.
#include <fmt/format.h>

#include <algorithm>

#include "suites/checks/rdma_view.hpp"

namespace fabricgate::suites {
namespace {

struct Rule {
  const char* metric;
  const char* cause;
  std::vector<const char*> counters;
  double window_s = 1;  ///< shortest time a rate is taken over: a limit per hour is no limit per second; 0: a count
  std::optional<Verdict> verdict = std::nullopt;  ///< instead of the cause's
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {"link.symbol_errors_per_hour", "link.symbol_errors", {"symbol_error"}, 3600, Verdict::fail},
      {"link.symbol_error_rate", "link.symbol_errors", {"symbol_error"}},
      {"link.recovery_rate", "link.errors", {"link_error_recovery"}, 60},
      {"link.port_rcv_error_rate", "link.errors", {"port_rcv_errors"}},
      {"link.fatal_errors", "link.flapping", {"link_downed"}, 0},
      {"link.fatal_errors", "link.errors", {"excessive_buffer_overrun_errors", "local_link_integrity_errors"}, 0},
      {"link.fatal_errors", "rdma.retries", {"rnr_nak_retry_err"}, 0, Verdict::fail},
      {"link.ack_timeout_rate", "rdma.retries", {"local_ack_timeout_err"}},
      {"link.discard_rate", "rdma.congestion", {"port_xmit_discards"}},
      {"link.slow_restart_rate", "rdma.congestion", {"roce_slow_restart"}},
  };
  return all;
}

/// Largest value of a counter of the PortCounters attribute (widths of drivers/infiniband/core/sysfs.c in Linux); 0: 64 bits.
std::int64_t ceiling(const std::string& counter) {
  static const std::map<std::string, int> bits{{"symbol_error", 16},  {"link_error_recovery", 8}, {"link_downed", 8},
                                               {"port_rcv_errors", 16}, {"port_xmit_discards", 16},
                                               {"excessive_buffer_overrun_errors", 4}, {"local_link_integrity_errors", 4}};
  const auto found = bits.find(counter);
  return found == bits.end() ? 0 : (std::int64_t{1} << found->second) - 1;
}

constexpr std::int64_t most_counted = 1'000'000'000'000'000;  // no port does anything so often in a run

struct Reading {
  std::int64_t before = 0, now = 0;
};

struct Counted {
  std::string name;
  Reading reading;
  Limit limit;
};

/// nullopt: the provider does not count it. Error: no evidence, and why.
Result<std::optional<Reading>> read_counter(const fabric::RdmaSample& sample, const std::string& name) {
  const auto &before = sample.before->port.counters, &now = sample.now.port.counters;
  const auto start = before.find(name), end = now.find(name);
  if (start == before.end() && end == now.end()) return std::optional<Reading>();
  if (start == before.end() || end == now.end())
    return Error{ErrorKind::parse, "counter " + name + " was read only once", 0};
  if (start->second < 0 || end->second < start->second)
    return Error{ErrorKind::parse, fmt::format("counter {} ran backwards ({} to {}): reset or wrapped", name, start->second, end->second), 0};
  if (end->second - start->second > most_counted)
    return Error{ErrorKind::parse, fmt::format("counter {} rose from {} to {}, which cannot be", name, start->second, end->second), 0};
  return std::optional<Reading>({start->second, end->second});
}

void judge_counter(const RdmaView& v, const Rule& rule, const Counted& counted, std::vector<Finding>& findings) {
  const auto& [name, reading, limit] = counted;
  const double seconds = v.sample.now.read_unix_s - v.sample.before->read_unix_s;
  const double value = static_cast<double>(reading.now - reading.before) / (rule.window_s > 0 ? std::max(seconds, rule.window_s) : 1);
  if (value > *limit.high) {
    const char* unit = rule.window_s > 0 ? " per second" : "";
    Finding finding = make_finding(rule.cause, v.subject, fmt::format("{} at most {:.3g}{}", name, *limit.high, unit),
                                   fmt::format("{:.3g}{} ({} to {} in {:.0f} s)", value, unit, reading.before, reading.now, seconds));
    finding = held_against(std::move(finding), rule.metric, limit);
    if (rule.verdict) finding.verdict = *rule.verdict;
    findings.push_back(finding);
  } else if (ceiling(name) > 0 && reading.now == ceiling(name)) {
    findings.push_back(make_finding("link.counter_saturated", v.subject, name + " below its largest value",
                                    fmt::format("{}, where it stops", reading.now)));
  }
}

/// Why the pair of readings is no evidence, or empty.
std::string no_window(const RdmaView& v) {
  if (!v.sample.before) return "no reading from the start of the run";
  const RdmaState &before = *v.sample.before, &now = v.sample.now;
  for (const RdmaState* state : {&before, &now})
    if (const std::string why = rdma_unreadable(*state); !why.empty()) return why;
  if (!before.present) return "the device was absent at the start of the run";
  return now.read_unix_s <= before.read_unix_s ? "the two readings are not in time order" : "";
}

/// The device without what may change while it works: counters, what the subnet manager gives out, functions that pods have.
nlohmann::json fixed(RdmaState state, bool own_functions) {
  state.port.counters.clear();
  state.port.lid = state.port.sm_lid = 0;
  state.read_unix_s = 0;
  if (!own_functions) state.virtual_functions.clear();
  for (VirtualFunction& function : state.virtual_functions) function.lid = function.sm_lid = 0;
  return to_json_value(state);
}

/// Why the counters of a device that is there at both times are no evidence, or empty.
std::string no_counters(const RdmaView& v) {
  const RdmaState &before = *v.sample.before, &now = v.sample.now;
  if (before.port.node_guid != now.port.node_guid) return "node GUID was " + before.port.node_guid + ", is " + now.port.node_guid;
  if (now.port.counters.empty()) return "no counters were read";
  const bool own = v.spec->sriov_owner == Owner::host;
  const auto changes = nlohmann::json::diff(fixed(before, own), fixed(now, own));
  if (!changes.empty()) return changes[0].at("path").get<std::string>() + " is not as at the start of the run";
  if (!v.infiniband() || now.software) return "";
  for (const char* name : {"symbol_error", "link_downed", "port_rcv_errors"})  // any InfiniBand port has these
    if (now.port.counters.count(name) == 0) return std::string("counter ") + name + " was not read";
  return "";
}

/// One finding per counter: the worst, which comes first in the rules.
bool told(const std::vector<Finding>& findings, const std::string& name) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.expected.rfind(name + " ", 0) == 0; });
}

}  // namespace

Judgement judge_link_rdma_counters(const JudgeContext& context, const Record& record) {
  const auto view = read_rdma_view(context, record);
  if (!view) return unusable(record, view.error().what);
  if (const std::string why = no_window(*view); !why.empty()) return unusable(record, why);
  Judgement now = judge_rdma_now(context, record, *view);  // still what link.rdma found
  if (!opens_gate(now.verdict)) return now;
  std::vector<Finding> findings = std::move(now.findings);
  if (const std::string why = no_counters(*view); !why.empty()) return unusable(record, why);
  std::string uncounted;
  for (const Rule& rule : rules()) {
    const Limit* limit = context.limits.find(rule.metric);
    if (limit == nullptr || !limit->high) return limit_missing(record, rule.metric);
    for (const std::string name : rule.counters) {
      const auto reading = read_counter(view->sample, name);
      if (!reading) return unusable(record, reading.error().what);
      if (*reading && !told(findings, name)) judge_counter(*view, rule, {name, **reading, *limit}, findings);
      if (!*reading && uncounted.find(name) == std::string::npos) uncounted += (uncounted.empty() ? "" : ", ") + name;
    }
  }
  Judgement judgement = decide(std::move(findings));
  if (judgement.reason.empty() && !uncounted.empty()) judgement.reason = "not counted by " + view->want.device + ": " + uncounted;
  return judgement;
}

}  // namespace fabricgate::suites
