/// The switch at the other end of a rail's cable against the declared leaf (link.cabling). Only rails that declare one are
/// asked. Where no switch says its name there is nothing to compare: a skip with its reason, which the suite allows; crossed
/// rails are then found by the pair tier alone.
#include <algorithm>
#include <cctype>

#include "fabric/link/rdma_sample.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

/// Switches append their domain and write capitals as they like.
std::string plain(const std::string& name) {
  std::string out = name.substr(0, name.find('.'));
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_leaf(const LldpNeighbour& neighbour, const std::string& leaf) {
  return plain(neighbour.chassis) == plain(leaf) || neighbour.chassis_id == leaf;
}

Judgement skipped(const std::string& reason) { return {Verdict::skip, reason, {}}; }

std::string place(const LldpNeighbour& neighbour) {
  const std::string name = neighbour.chassis.empty() ? neighbour.chassis_id : neighbour.chassis;
  return name + (neighbour.port.empty() ? "" : " port " + neighbour.port);
}

/// ", the leaf of rail1" when the switch is the one another rail of the node should be at.
std::string belongs_to(const Node& node, const LldpNeighbour& neighbour, const std::string& rail) {
  for (const Rail& other : node.spec->rails)
    if (other.name != rail && !other.leaf.empty() && is_leaf(neighbour, other.leaf)) return ", the leaf of " + other.name;
  return "";
}

}  // namespace

Judgement judge_link_cabling(const JudgeContext& context, const Record& record) {
  if (record.hosts.size() != 1) return unusable(record, "the record does not name one host");
  const Node* node = context.node(record.hosts[0]);
  const Rail* rail = declared_rail(node, record.rail);
  if (rail == nullptr || rail->leaf.empty()) return unusable(record, "rail '" + record.rail + "' declares no leaf switch");
  if (!record.sample.is_object()) return unusable(record, "sample is not an object");
  const auto sample = fabric::cabling_sample_from_json(record.sample);
  if (!sample) return unusable(record, sample.error().what);
  if (sample->host != record.hosts[0] || sample->rail != record.rail || sample->netdev != rail->netdev)
    return unusable(record, "sample is about another rail than the record");
  if (!sample->unreadable.empty()) return skipped(sample->unreadable);
  const LldpNeighbour* seen = nullptr;
  for (const LldpNeighbour& neighbour : sample->neighbours) {
    if (neighbour.netdev != rail->netdev) return unusable(record, "a neighbour of " + neighbour.netdev + " in the sample");
    if (is_leaf(neighbour, rail->leaf)) return {Verdict::pass, "", {}};
    if (seen == nullptr && !neighbour.chassis.empty()) seen = &neighbour;
  }
  if (seen == nullptr) return skipped("no switch says its name on " + rail->netdev + " over LLDP");
  const Subject subject{.host = record.hosts[0], .netdev = rail->netdev, .rail = record.rail};
  return decide({make_finding("link.cabling", subject, "leaf " + rail->leaf, place(*seen) + belongs_to(*node, *seen, record.rail))});
}

}  // namespace fabricgate::suites
