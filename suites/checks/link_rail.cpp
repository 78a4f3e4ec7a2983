/// One rail of one node at the start of a run (link.rail), and what its counters did until the end (link.counters).
#include <algorithm>

#include "fabric/link/link_sample.hpp"
#include "inventory/desired/desired.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

struct RailView {
  const Rail* rail = nullptr;
  DesiredRail want;
  fabric::LinkSample sample;
  Subject subject;
};

/// The declaration and the sample of a record, or why there is none.
Result<RailView> read_view(const JudgeContext& context, const Record& record) {
  const auto no = [](const std::string& what) { return Error{ErrorKind::parse, what, 0}; };
  if (record.hosts.size() != 1) return no("the record does not name one host");
  const auto index = context.find(record.hosts[0]);
  if (!index) return no(record.hosts[0] + " is not in the inventory");
  RailView view;
  view.rail = declared_rail(&context.inventory.nodes[*index], record.rail);
  if (view.rail == nullptr) return no("rail '" + record.rail + "' is not declared for " + record.hosts[0]);
  for (const DesiredRail& rail : desired(context.inventory, *index).rails)
    if (rail.name == record.rail) view.want = rail;
  if (!record.sample.is_object()) return no("sample is not an object");
  auto sample = fabric::link_sample_from_json(record.sample);
  if (!sample) return sample.error();
  if (sample->host != record.hosts[0] || sample->rail != record.rail) return no("sample is about another rail than the record");
  if (sample->netdev != view.rail->netdev) return no("sample is of interface '" + sample->netdev + "', declared is " + view.rail->netdev);
  if (!sample->error.empty()) return no(sample->error);
  view.sample = std::move(*sample);
  view.subject.host = record.hosts[0];
  view.subject.rail = record.rail;
  view.subject.netdev = view.rail->netdev;
  return view;
}

/// Carrier and administrative state; the first that is wrong explains the rest.
bool judge_state(const RailView& v, const fabric::LinkState& state, std::vector<Finding>& findings) {
  if (!state.present) {
    findings.push_back(make_finding("link.absent", v.subject, "interface " + v.rail->netdev, "no interface " + v.rail->netdev));
  } else if (!state.admin_up) {
    findings.push_back(make_finding("link.disabled", v.subject, "up", "set down"));
  } else if (!state.carrier) {
    findings.push_back(make_finding("link.down", v.subject, "carrier", "no carrier"));
  } else {
    return true;
  }
  return false;
}

std::int64_t counter_delta(const RailView& v, const std::string& name) {
  const auto now = v.sample.now.counters.find(name), before = v.sample.before->counters.find(name);
  if (now == v.sample.now.counters.end() || before == v.sample.before->counters.end()) return 0;
  return now->second - before->second;
}

struct Counted {
  const char* metric;
  const char* cause;
  std::vector<const char*> counters;
};

/// Of the interface; those of an RDMA port are judged by link.rdma_counters.
const std::vector<Counted>& counted() {
  static const std::vector<Counted> all{
      {"link.error_rate", "link.errors", {"rx_errors", "tx_errors", "rx_crc_errors", "rx_frame_errors", "rx_length_errors", "rx_fifo_errors", "tx_carrier_errors"}},
      {"link.drop_rate", "link.frames_dropped", {"rx_dropped", "tx_dropped", "rx_missed_errors"}},
  };
  return all;
}

void judge_counters(const RailView& v, const Counted& rule, const Limit& limit, std::vector<Finding>& findings) {
  const double seconds = v.sample.now.read_unix_s - v.sample.before->read_unix_s;
  for (const char* name : rule.counters) {
    const double value = static_cast<double>(counter_delta(v, name)) / seconds;
    if (value <= *limit.high) continue;
    findings.push_back(held_against(
        make_finding(rule.cause, v.subject, std::string(name) + " at most " + std::to_string(std::llround(*limit.high)) + " per second",
                     std::to_string(std::llround(value)) + " per second"),
        rule.metric, limit));
  }
}

/// A bond stays up with one leg, and brings less.
void judge_bond(const RailView& v, const fabric::LinkState& state, std::vector<Finding>& findings) {
  std::string dead;
  for (const fabric::BondMember& member : state.bond)
    if (!member.up || !member.carries)
      dead += (dead.empty() ? "" : ", ") + member.netdev + (member.up ? " in another aggregator" : " down");
  if (!dead.empty())
    findings.push_back(make_finding("link.bond_degraded", v.subject, std::to_string(state.bond.size()) + " legs of " + v.rail->netdev, dead));
}

void judge_flaps(const RailView& v, double most, std::vector<Finding>& findings) {
  const std::int64_t changes = v.sample.now.carrier_changes - v.sample.before->carrier_changes;
  if (changes <= 0) return;
  Finding finding = make_finding("link.flapping", v.subject, "no carrier change during the run", std::to_string(changes) + " changes");
  if (static_cast<double>(changes) <= most) finding.verdict = Verdict::warn;
  findings.push_back(finding);
}

/// Empty, or why the state is no evidence.
std::string state_problem(const fabric::LinkState& state) {
  if (state.mtu <= 0 || state.mtu > 1 << 20) return "MTU " + std::to_string(state.mtu) + " cannot be";
  if (!within(state.read_unix_s, 1, 1e11)) return "the time of reading cannot be";
  if (state.index < 0) return "interface index " + std::to_string(state.index) + " cannot be";
  if (state.carrier_changes < 0) return "carrier changes were not read";
  for (const auto& [name, value] : state.counters)
    if (value < 0) return "counter " + name + " is negative";
  const bool beyond = static_cast<double>(state.speed_mbps) * 1e6 > 1e14;
  if (state.speed_mbps == 0 || state.speed_mbps < -1 || beyond)
    return "speed " + std::to_string(state.speed_mbps) + " Mb/s cannot be";
  return "";
}

/// The rail as it is, at the start of the run or at its end, against what is declared.
Judgement judge_now(const JudgeContext& context, const Record& record, const RailView& v) {
  const fabric::LinkState& now = v.sample.now;
  std::vector<Finding> findings;
  if (!judge_state(v, now, findings)) return decide(std::move(findings));
  if (const std::string problem = state_problem(now); !problem.empty()) return unusable(record, problem);
  const Limit* speed = context.limits.find("link.speed_share");
  if (speed == nullptr || !speed->low) return limit_missing(record, "link.speed_share");
  // A software rail reports a made-up speed (10 Gb/s for veth): the shaped rate is measured in the pair tier instead.
  const bool emulated = context.node(record.hosts[0])->spec->emulated;
  const double rate = static_cast<double>(now.speed_mbps) * 1e6;
  if (!emulated && now.speed_mbps > 0 && rate < *speed->low * v.rail->rate_bits_per_s)
    findings.push_back(held_against(
        make_finding("link.speed_degraded", v.subject, rate_text(v.rail->rate_bits_per_s / 8), rate_text(rate / 8)),
        "link.speed_share", *speed));
  if (now.mtu != v.want.mtu)
    findings.push_back(
        make_finding("mtu.not_as_declared", v.subject, std::to_string(v.want.mtu), std::to_string(now.mtu)));
  const std::string address = format_ipv4(v.want.address);
  const auto carries = [&](const std::string& text) { return text.substr(0, text.find('/')) == address; };
  if (std::none_of(now.addresses.begin(), now.addresses.end(), carries))
    findings.push_back(
        make_finding("link.address_missing", v.subject, address, now.addresses.empty() ? "none" : now.addresses[0]));
  else if (!carries(now.addresses[0]))
    findings.push_back(make_finding("link.address_not_first", v.subject, address + " before other addresses", now.addresses[0] + " before it"));
  if (v.sample.before && v.sample.before->present && v.sample.before->mac != now.mac)
    findings.push_back(
        make_finding("link.replaced", v.subject, "MAC " + v.sample.before->mac + " as at the start", "MAC " + now.mac));
  judge_bond(v, now, findings);
  return decide(std::move(findings));
}

/// Empty, or why the two readings of the counters cannot be compared.
std::string readings_problem(const fabric::LinkState& before, const fabric::LinkState& now) {
  if (!before.present) return "the interface was absent at the start of the run";
  if (!within(before.read_unix_s, 1, 1e11) || now.read_unix_s - before.read_unix_s <= 0)
    return "the two readings are not in time order";
  if (now.speed_mbps < 0 && before.speed_mbps > 0) return "the speed was told at the start of the run alone";
  if (before.index <= 0 || before.index != now.index) return "the interface was made anew during the run";
  if (before.carrier_changes < 0 || now.carrier_changes < before.carrier_changes)
    return "carrier changes ran backwards";
  for (const fabric::LinkState* state : {&before, &now})
    for (const char* name : {"rx_errors", "tx_errors", "rx_bytes", "tx_bytes"})  // every interface has them
      if (state->counters.count(name) == 0) return "counter " + std::string(name) + " was not read";
  for (const auto& [name, start] : before.counters) {
    const auto end = now.counters.find(name);
    if (end == now.counters.end()) return "counter " + name + " was not read at the end";
    if (start < 0 || end->second < start) return "counter " + name + " ran backwards";
  }
  for (const auto& [name, end] : now.counters)
    if (before.counters.count(name) == 0) return "counter " + name + " was not read at the start";
  return "";
}

/// What the counters did between the two readings.
Judgement judge_readings(const JudgeContext& context, const Record& record, const RailView& v) {
  const std::string problem = readings_problem(*v.sample.before, v.sample.now);
  if (!problem.empty()) return unusable(record, problem);
  const Limit* changes = context.limits.find("link.carrier_changes");
  if (changes == nullptr || !changes->high) return limit_missing(record, "link.carrier_changes");
  const Limit* traffic = context.limits.find("link.traffic_share");  // for the gate, which has the records of pairs
  if (traffic == nullptr || !traffic->low) return limit_missing(record, "link.traffic_share");
  const double most = 2 * v.rail->rate_bits_per_s / 8 * (v.sample.now.read_unix_s - v.sample.before->read_unix_s);
  for (const char* name : {"rx_bytes", "tx_bytes"})
    if (static_cast<double>(counter_delta(v, name)) > most) return unusable(record, std::string(name) + " grew by more than the rail can carry");
  std::vector<Finding> findings;
  judge_flaps(v, *changes->high, findings);
  for (const Counted& rule : counted()) {
    const Limit* limit = context.limits.find(rule.metric);
    if (limit == nullptr || !limit->high) return limit_missing(record, rule.metric);
    judge_counters(v, rule, *limit, findings);
  }
  return decide(std::move(findings));
}

}  // namespace

Judgement judge_link_rail(const JudgeContext& context, const Record& record) {
  const auto view = read_view(context, record);
  return view ? judge_now(context, record, *view) : unusable(record, view.error().what);
}

/// The rail must still be what link.rail found, so that what the later tiers measured is said of it.
Judgement judge_link_counters(const JudgeContext& context, const Record& record) {
  const auto view = read_view(context, record);
  if (!view) return unusable(record, view.error().what);
  if (!view->sample.before) return unusable(record, "no reading from the start of the run");
  Judgement state = judge_now(context, record, *view);
  const fabric::LinkState& now = view->sample.now;
  if (state.verdict == Verdict::inconclusive || !now.present || !now.admin_up || !now.carrier) return state;
  Judgement readings = judge_readings(context, record, *view);
  if (readings.verdict == Verdict::inconclusive && !opens_gate(state.verdict)) return state;
  if (readings.verdict == Verdict::inconclusive) return readings;
  for (Finding& finding : state.findings) readings.findings.push_back(std::move(finding));
  return decide(std::move(readings.findings));
}

}  // namespace fabricgate::suites
