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

/// Errors of the interface; those of an RDMA port are judged by link.rdma_counters.
void judge_counters(const RailView& v, const Limit& limit, std::vector<Finding>& findings) {
  const double seconds = v.sample.now.read_unix_s - v.sample.before->read_unix_s;
  for (const char* name : {"rx_errors", "tx_errors", "rx_crc_errors", "rx_frame_errors", "rx_length_errors", "rx_fifo_errors", "tx_carrier_errors"}) {
    const double value = static_cast<double>(counter_delta(v, name)) / seconds;
    if (value <= *limit.high) continue;
    findings.push_back(held_against(
        make_finding("link.errors", v.subject, std::string(name) + " at most " + std::to_string(std::llround(*limit.high)) + " per second",
                     std::to_string(std::llround(value)) + " per second"),
        "link.error_rate", limit));
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

}  // namespace

Judgement judge_link_rail(const JudgeContext& context, const Record& record) {
  const auto view = read_view(context, record);
  if (!view) return unusable(record, view.error().what);
  const fabric::LinkState& now = view->sample.now;
  std::vector<Finding> findings;
  if (!judge_state(*view, now, findings)) return decide(std::move(findings));
  if (now.mtu <= 0 || now.mtu > 1 << 20) return unusable(record, "MTU " + std::to_string(now.mtu) + " cannot be");
  if (!within(now.read_unix_s, 1, 1e11)) return unusable(record, "the time of reading cannot be");
  if (now.carrier_changes < 0) return unusable(record, "carrier changes were not read");
  for (const auto& [name, value] : now.counters)
    if (value < 0) return unusable(record, "counter " + name + " is negative");
  const Limit* speed = context.limits.find("link.speed_share");
  if (speed == nullptr || !speed->low) return limit_missing(record, "link.speed_share");
  // A software rail reports a made-up speed (10 Gb/s for veth): the shaped rate is measured in the pair tier instead.
  const bool emulated = context.node(record.hosts[0])->spec->emulated;
  const double rate = static_cast<double>(now.speed_mbps) * 1e6;
  if (now.speed_mbps == 0 || now.speed_mbps < -1 || rate > 1e14)
    return unusable(record, "speed " + std::to_string(now.speed_mbps) + " Mb/s cannot be");
  if (!emulated && now.speed_mbps > 0 && rate < *speed->low * view->rail->rate_bits_per_s)
    findings.push_back(held_against(make_finding("link.speed_degraded", view->subject,
                                                 rate_text(view->rail->rate_bits_per_s / 8), rate_text(rate / 8)),
                                    "link.speed_share", *speed));
  if (now.mtu != view->want.mtu)
    findings.push_back(make_finding("mtu.not_as_declared", view->subject, std::to_string(view->want.mtu), std::to_string(now.mtu)));
  const std::string address = format_ipv4(view->want.address);
  const auto carries = [&](const std::string& text) { return text.substr(0, text.find('/')) == address; };
  if (std::none_of(now.addresses.begin(), now.addresses.end(), carries))
    findings.push_back(make_finding("link.address_missing", view->subject, address, now.addresses.empty() ? "none" : now.addresses[0]));
  judge_bond(*view, now, findings);
  return decide(std::move(findings));
}

Judgement judge_link_counters(const JudgeContext& context, const Record& record) {
  const auto view = read_view(context, record);
  if (!view) return unusable(record, view.error().what);
  if (!view->sample.before) return unusable(record, "no reading from the start of the run");
  const fabric::LinkState &now = view->sample.now, &before = *view->sample.before;
  std::vector<Finding> findings;
  if (!judge_state(*view, now, findings)) return decide(std::move(findings));
  if (!before.present) return unusable(record, "the interface was absent at the start of the run");
  if (!within(before.read_unix_s, 1, 1e11) || !within(now.read_unix_s, 1, 1e11) || now.read_unix_s - before.read_unix_s <= 0)
    return unusable(record, "the two readings are not in time order");
  if (before.carrier_changes < 0 || now.carrier_changes < before.carrier_changes)
    return unusable(record, "carrier changes ran backwards");
  if (now.counters.empty() || before.counters.empty()) return unusable(record, "no counters were read");
  for (const auto& [name, value] : now.counters) {
    const auto start = before.counters.find(name);
    if (value < 0 || (start != before.counters.end() && (start->second < 0 || value < start->second)))
      return unusable(record, "counter " + name + " ran backwards");
  }
  const Limit* changes = context.limits.find("link.carrier_changes");
  if (changes == nullptr || !changes->high) return limit_missing(record, "link.carrier_changes");
  judge_flaps(*view, *changes->high, findings);
  const Limit* errors = context.limits.find("link.error_rate");
  if (errors == nullptr || !errors->high) return limit_missing(record, "link.error_rate");
  judge_counters(*view, *errors, findings);
  judge_bond(*view, now, findings);
  return decide(std::move(findings));
}

}  // namespace fabricgate::suites
