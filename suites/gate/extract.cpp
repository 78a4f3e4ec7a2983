#include "suites/gate/extract.hpp"

#include <algorithm>
#include <unordered_map>

#include "fabric/collective/collective_sample.hpp"
#include "fabric/link/link_sample.hpp"
#include "inventory/desired/desired.hpp"
#include "suites/checks/judging.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::suites {
namespace {

int rail_index(const Inventory& inventory, const std::string& name) {
  const auto& first = inventory.nodes[0].spec;
  if (first)
    for (std::size_t i = 0; i < first->rails.size(); ++i)
      if (first->rails[i].name == name) return static_cast<int>(i);  // rail_names() begins with these
  const auto names = rail_names(inventory);
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

double pair_rate(const Inventory& inventory, const Exhibit& exhibit) {
  double rate = 0;
  for (const int node : exhibit.nodes) {
    const Rail* rail = declared_rail(&inventory.nodes[static_cast<std::size_t>(node)], exhibit.record.rail);
    if (rail == nullptr) return 0;
    rate = rate == 0 ? rail->rate_bits_per_s / 8 : std::min(rate, rail->rate_bits_per_s / 8);
  }
  return rate;
}

fabric::PathClass classify(const fabric::PairSample& sample, const fabric::DirectionSample& direction, double share, const Limit& limit) {
  if (!sample.error.empty()) return fabric::PathClass::unreachable;
  if (!direction.error.empty()) return direction.sweep.empty() ? fabric::PathClass::unreachable : fabric::PathClass::bad;
  if (direction.sweep.empty() || !within(share, 1e-12, *limit.high)) return fabric::PathClass::unmeasured;
  return share < *limit.low ? fabric::PathClass::bad : fabric::PathClass::good;
}

/// Share of the sum of both directions that runs with both at once, where it is below the limit.
std::optional<double> half_duplex(const Limits& limits, const fabric::PairSample& sample) {
  const Limit* limit = limits.find("pair.both_share");
  for (const auto* direction : {&sample.a_to_b, &sample.b_to_a, &sample.a_to_b_both, &sample.b_to_a_both})
    if (limit == nullptr || !limit->low || direction->sweep.empty()) return {};
  const auto rate = [](const fabric::DirectionSample& direction) { return direction.sweep.back().bytes_per_s; };
  const double share =
      (rate(sample.a_to_b_both) + rate(sample.b_to_a_both)) / (rate(sample.a_to_b) + rate(sample.b_to_a));
  return share < *limit->low ? std::optional<double>(share) : std::nullopt;
}

/// Makes a path that is good by its rate a bad one for what else was seen on it.
void add_troubles(const Limits& limits, const fabric::PairSample& sample, int direction, fabric::PathResult& path) {
  if (path.result != fabric::PathClass::good) return;
  const Limit* most = limits.find("pair.retransmit_share");
  if (most != nullptr && most->high)
    if (const auto lost = fabric::retransmitted(direction == 0 ? sample.a_to_b : sample.b_to_a, *most->high)) {
      path.result = fabric::PathClass::bad;
      path.loss = static_cast<float>(*lost);
      path.tentative = sample.mode == fabric::PairMode::together;
      return;
    }
  if (!sample.a_to_b_both.error.empty() || !sample.b_to_a_both.error.empty()) {
    path.result = fabric::PathClass::unreachable;  // it fell silent when both ran; what it carried before is not why
    path.share = -1;
  }
  if (const auto share = half_duplex(limits, sample)) {
    path.result = fabric::PathClass::bad;
    path.both = true;
    path.tentative = sample.mode == fabric::PairMode::together;
    path.share = static_cast<float>(*share);
  }
}

/// What the many short connections showed stands before what was streamed. Which way of a lost one's packets is at fault
/// cannot be told, so both are bad; where one end's were all in vain nothing was streamed.
void add_flows(const Inventory& inventory, const fabric::PairSample& sample, Exhibit& exhibit) {
  const fabric::FlowCount* flows[] = {&sample.flows_a_to_b, &sample.flows_b_to_a};
  const auto rail_of = [&](int node) { return declared_rail(&inventory.nodes[static_cast<std::size_t>(node)], exhibit.record.rail); };
  const Rail *a = rail_of(exhibit.nodes[0]), *b = rail_of(exhibit.nodes[1]);
  const bool in_vain = flows[0]->dead() || flows[1]->dead();
  for (std::size_t i = 0; i < exhibit.paths.size() && a != nullptr && b != nullptr; ++i) {
    fabric::PathResult& path = exhibit.paths[i];
    for (const fabric::FlowCount* count : flows)
      if (count->lost() && !in_vain) path.flows_lost = std::max(path.flows_lost, 1 - static_cast<float>(count->answered) / static_cast<float>(count->dialled));
    path.deaf = flows[i]->dead() && !flows[1 - i]->dead();
    if (path.flows_lost > 0) path.result = fabric::PathClass::bad;
    if (in_vain && sample.error.empty()) path.result = flows[i]->dead() ? fabric::PathClass::unreachable : fabric::PathClass::unmeasured;
    if (in_vain || flows[i]->answered == 0 || flows[i]->segment_bytes >= least_segment(*a, *b)) continue;
    path.segment = static_cast<int>(flows[i]->segment_bytes);
    if (path.result != fabric::PathClass::unreachable) path.result = fabric::PathClass::bad;
  }
}

/// What an unbroken measurement moved, by either end.
void note_moved(const fabric::PairSample& sample, int rail, Exhibit& exhibit) {
  Moved a{.node = exhibit.nodes[0], .peer = exhibit.nodes[1], .rail = rail}, b{.node = a.peer, .peer = a.node, .rail = rail};
  const auto add = [](const fabric::DirectionSample& direction, Moved& from, Moved& to) {
    if (!direction.error.empty()) return;
    from.sent_bytes += static_cast<double>(direction.sent_bytes);
    to.received_bytes += static_cast<double>(direction.received_bytes);
  };
  add(sample.a_to_b, a, b);
  add(sample.a_to_b_both, a, b);
  add(sample.b_to_a, b, a);
  add(sample.b_to_a_both, b, a);
  if (sample.error.empty()) exhibit.moved = {a, b};
}

void extract_pair(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::pair_sample_from_json(exhibit.record.sample);
  if (!sample) return;
  exhibit.mode = sample->mode;
  if (exhibit.record.check == "pair.rail") note_moved(*sample, rail_index(input.inventory, exhibit.record.rail), exhibit);
  PathFigures figures;
  figures.latency_s = sample->latency_p50_s;
  const Limit* limit = input.limits.find("pair.bandwidth_share");
  const double rate = pair_rate(input.inventory, exhibit);
  for (int i : {0, 1}) {
    const fabric::DirectionSample& direction = i == 0 ? sample->a_to_b : sample->b_to_a;
    if (!direction.sweep.empty()) figures.bytes_per_s[static_cast<std::size_t>(i)] = direction.sweep.back().bytes_per_s;
    if (exhibit.record.check != "pair.rail" || limit == nullptr || !limit->low || !limit->high || rate <= 0) continue;
    const double share = figures.bytes_per_s[static_cast<std::size_t>(i)] / rate;
    fabric::PathResult path{.from = exhibit.nodes[static_cast<std::size_t>(i)], .to = exhibit.nodes[static_cast<std::size_t>(1 - i)],
                            .rail = rail_index(input.inventory, exhibit.record.rail)};
    path.result = classify(*sample, direction, share, *limit);
    path.mode = sample->mode;
    path.share = within(share, 0, 1e6) ? static_cast<float>(share) : -1;
    add_troubles(input.limits, *sample, i, path);
    exhibit.paths.push_back(path);
  }
  add_flows(input.inventory, *sample, exhibit);
  exhibit.figures = figures;
}

/// What only the rail's own answer tells.
void note_own_rail(const Inventory& inventory, const fabric::ReachAnswer& answer, fabric::ReachFact& fact) {
  const auto node = [&](int index) { return &inventory.nodes[static_cast<std::size_t>(index)]; };
  fact.dead = !answer.macs.empty() && !answer.echo && !answer.full_mtu;
  fact.mtu_failed = !answer.macs.empty() && answer.echo && !answer.full_mtu;
  const Rail *own = declared_rail(node(fact.from), answer.from_rail), *theirs = declared_rail(node(fact.to), answer.to_rail);
  const auto way = own != nullptr && theirs != nullptr && answer.macs.size() == 1 ? wrong_way(answer, *own) : std::nullopt;
  if (!way) return;
  (way->by_route ? fact.wrong_route : fact.wrong_neighbour) = true;
  fact.way = format_ipv4(rail_address(*theirs, static_cast<std::size_t>(fact.to))) + (way->by_route ? " " : " at ") + way->found;
  if (!way->by_route) fact.neighbour = answer.next_hop.mac;
}

void extract_reach(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::reach_sample_from_json(exhibit.record.sample);
  if (!sample) return;
  const auto limits = loss_limits(input.limits);
  const std::vector<std::string> counted = fabric::countable_rails(*sample);
  for (const fabric::ReachAnswer& answer : sample->answers) {
    if (!answer.error.empty()) continue;
    const bool forward = answer.from == sample->a;
    fabric::ReachFact fact{.from = exhibit.nodes[forward ? 0 : 1], .from_rail = rail_index(input.inventory, answer.from_rail),
                           .to = exhibit.nodes[forward ? 1 : 0], .to_rail = rail_index(input.inventory, answer.to_rail)};
    fact.macs = answer.macs;
    if (answer.from_rail == answer.to_rail) note_own_rail(input.inventory, answer, fact);
    const bool countable = answer.from_rail == answer.to_rail && std::find(counted.begin(), counted.end(), answer.from_rail) != counted.end();
    if (countable && limits)
      exhibit.losses.push_back(fabric::loss_path({.from = fact.from, .to = fact.to, .rail = fact.to_rail}, fabric::loss_of(answer, *limits)));
    exhibit.reach.push_back(std::move(fact));
  }
}

void extract_counters(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::link_sample_from_json(exhibit.record.sample);
  if (!sample || !sample->before) return;
  const auto grown = [&](const char* name) {
    const auto now = sample->now.counters.find(name), before = sample->before->counters.find(name);
    if (now == sample->now.counters.end() || before == sample->before->counters.end()) return -1.0;
    return static_cast<double>(now->second) - static_cast<double>(before->second);
  };
  exhibit.counted = Counted{.node = exhibit.nodes[0],
                            .rail = rail_index(input.inventory, exhibit.record.rail),
                            .tx_bytes = grown("tx_bytes"),
                            .rx_bytes = grown("rx_bytes"),
                            .netdev = sample->netdev};
}

void extract_link(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::link_sample_from_json(exhibit.record.sample);
  if (!sample) return;
  fabric::RailFact fact{.node = exhibit.nodes[0], .rail = rail_index(input.inventory, exhibit.record.rail)};
  fact.down = !sample->now.present || !sample->now.admin_up || !sample->now.carrier;
  fact.mtu = sample->now.mtu;
  if (const Rail* rail = declared_rail(&input.inventory.nodes[static_cast<std::size_t>(exhibit.nodes[0])], exhibit.record.rail))
    fact.mtu_declared = rail->mtu;
  fact.mac = sample->now.mac;
  fact.netdev = sample->netdev;
  exhibit.rail = std::move(fact);
}

void extract_stage(Exhibit& exhibit) {
  const nlohmann::json& sample = exhibit.record.sample;
  const auto says = [&](const char* key) {
    const auto found = sample.find(key);
    return found != sample.end() && found->is_boolean() && found->get<bool>();
  };
  exhibit.digest = {sample.value("agent_sha256", nlohmann::json()), sample.value("rank_sha256", nlohmann::json())};
  exhibit.staged = Staged{says("changed"), says("lost_at_reboot")};
}

void extract_collective(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::collective_sample_from_json(exhibit.record.sample);
  if (!sample || !sample->error.empty() || !sample->missing.empty()) return;
  std::unordered_map<std::string_view, int> nodes;  // of thousands of hosts
  for (std::size_t i = 0; i < exhibit.nodes.size(); ++i) nodes.emplace(exhibit.record.hosts[i], exhibit.nodes[i]);
  for (const fabric::CollectiveTraffic& moved : sample->moved) {
    const auto host = nodes.find(moved.host);
    if (host == nodes.end()) continue;
    exhibit.moved.push_back({.node = host->second,
                             .rail = rail_index(input.inventory, moved.rail),
                             .sent_bytes = static_cast<double>(moved.sent_bytes),
                             .received_bytes = static_cast<double>(moved.received_bytes)});
  }
}

/// Names, leaves and what the nodes say of themselves.
fabric::Observation frame_of(const Inventory& inventory, const std::vector<Exhibit>& records) {
  fabric::Observation out;
  out.rails = rail_names(inventory);
  bool leaves = false;
  for (const Node& node : inventory.nodes) {
    out.nodes.push_back(node.name);
    auto& row = out.leaves.emplace_back(out.rails.size());
    for (std::size_t i = 0; i < out.rails.size(); ++i)
      if (const Rail* rail = declared_rail(&node, out.rails[i])) row[i] = rail->leaf;
    leaves = leaves || std::any_of(row.begin(), row.end(), [](const std::string& leaf) { return !leaf.empty(); });
  }
  if (!leaves) out.leaves.clear();
  for (const Exhibit& exhibit : records)
    if (exhibit.rail) out.facts.push_back(*exhibit.rail);
  return out;
}

}  // namespace

void extract(const GateInput& input, Exhibit& exhibit) {
  const Record& record = exhibit.record;
  const Check* check = find_check(record.check);
  if (check != nullptr && check->scope == Scope::rail && record.sample.is_object())
    if (const auto start = record.sample.find(check->at_end ? "before" : "now"); start != record.sample.end())
      exhibit.start = std::hash<nlohmann::json>{}(*start);
  if (record.sample.is_object() && !input.inventory.nodes.empty()) {
    if ((record.check == "pair.rail" || record.check == "pair.overlay") && exhibit.nodes.size() == 2) extract_pair(input, exhibit);
    if (record.check == "pair.reach" && exhibit.nodes.size() == 2) extract_reach(input, exhibit);
    if (record.check == "stage.node") extract_stage(exhibit);
    if (record.check == "link.rail") extract_link(input, exhibit);
    if (record.check == "collective.allreduce") extract_collective(input, exhibit);
    if (record.check == "link.counters") extract_counters(input, exhibit);
    if (record.check == "host.facts") exhibit.digest = fleet_sample({&record});
    if (record.check == "host.fleet" && record.sample.contains("hosts")) exhibit.digest = record.sample;
  }
  exhibit.record.sample = nullptr;
}

fabric::Observation pair_observation(const Inventory& inventory, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_of(inventory, records);
  for (const Exhibit& exhibit : records) {
    out.paths.insert(out.paths.end(), exhibit.paths.begin(), exhibit.paths.end());
    out.reach.insert(out.reach.end(), exhibit.reach.begin(), exhibit.reach.end());
  }
  return out;
}

bool answered_by_another(const std::vector<Exhibit>& records) {
  std::unordered_map<std::string, int> owners;
  for (const Exhibit& exhibit : records)
    if (exhibit.rail && !exhibit.rail->mac.empty()) owners[exhibit.rail->mac] = exhibit.rail->node;
  for (const Exhibit& exhibit : records)
    for (const fabric::ReachFact& fact : exhibit.reach)
      for (const std::string& mac : fact.macs)
        if (const auto owner = owners.find(mac); owner != owners.end() && owner->second != fact.to) return true;
  return false;
}

fabric::Observation loss_observation(const GateInput& input, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_of(input.inventory, records);
  for (fabric::RailFact& fact : out.facts) {  // their faults are found from the bandwidth
    fact.down = false;
    fact.mtu = 0;
  }
  std::vector<fabric::LossPath> paths;
  for (const Exhibit& exhibit : records) paths.insert(paths.end(), exhibit.losses.begin(), exhibit.losses.end());
  out.paths = fabric::weigh(paths);
  if (const auto limits = loss_limits(input.limits)) out.loss_ceiling = limits->share;
  return out;
}

}  // namespace fabricgate::suites
