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

/// The same without what nodes say is wrong: that is found from the bandwidth of pair.rail.
fabric::Observation frame_without_faults(const Inventory& inventory, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_of(inventory, records);
  for (fabric::RailFact& fact : out.facts) {
    fact.down = false;
    fact.mtu = 0;
  }
  return out;
}

}  // namespace

int rail_index(const Inventory& inventory, const std::string& name) {
  const auto& first = inventory.nodes[0].spec;
  if (first)
    for (std::size_t i = 0; i < first->rails.size(); ++i)
      if (first->rails[i].name == name) return static_cast<int>(i);  // rail_names() begins with these
  const auto names = rail_names(inventory);
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

void extract(const GateInput& input, Exhibit& exhibit) {
  const Record& record = exhibit.record;
  const Check* check = find_check(record.check);
  if (check != nullptr && check->scope == Scope::rail && record.sample.is_object())
    if (const auto start = record.sample.find(check->at_end ? "before" : "now"); start != record.sample.end())
      exhibit.start = std::hash<nlohmann::json>{}(*start);
  if (record.sample.is_object() && !input.inventory.nodes.empty()) {
    if ((record.check == "pair.rail" || record.check == "pair.overlay") && exhibit.nodes.size() == 2) extract_pair(input, exhibit);
    if (record.check == "pair.rdma" && exhibit.nodes.size() == 2) extract_pair_rdma(input, exhibit);
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

fabric::Observation pair_observation(const GateInput& input, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_of(input.inventory, records);
  for (const Exhibit& exhibit : records) {
    if (exhibit.record.check == "pair.rail") out.paths.insert(out.paths.end(), exhibit.paths.begin(), exhibit.paths.end());
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

fabric::Observation rdma_observation(const GateInput& input, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_without_faults(input.inventory, records);
  for (const Exhibit& exhibit : records)
    if (exhibit.record.check == "pair.rdma") out.paths.insert(out.paths.end(), exhibit.paths.begin(), exhibit.paths.end());
  if (const Limit* share = input.limits.find("pair.rdma_share"); share != nullptr && share->low) out.share_floor = *share->low;
  return out;
}

fabric::Observation loss_observation(const GateInput& input, const std::vector<Exhibit>& records) {
  fabric::Observation out = frame_without_faults(input.inventory, records);
  std::vector<fabric::LossPath> paths;
  for (const Exhibit& exhibit : records) paths.insert(paths.end(), exhibit.losses.begin(), exhibit.losses.end());
  out.paths = fabric::weigh(paths);
  if (const auto limits = loss_limits(input.limits)) out.loss_ceiling = limits->share;
  return out;
}

}  // namespace fabricgate::suites
