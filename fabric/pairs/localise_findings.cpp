#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/pairs/coverage.hpp"
#include "fabric/pairs/localise.hpp"
#include "fabric/pairs/path_table.hpp"
#include "results/apart.hpp"
#include "results/host_range.hpp"

namespace fabricgate::fabric {
namespace {

constexpr std::size_t max_evidence = 12;     // lines per finding; the count is in `found`
constexpr double settled = 0.5;              // confidence below which nobody is blamed

const char* slow_cause(CulpritKind kind) {
  switch (kind) {
    case CulpritKind::node:
      return "pair.node_slow";
    case CulpritKind::rail:
      return "pair.rail_slow";
    case CulpritKind::direction:
      return "pair.direction_slow";
    case CulpritKind::between:
      return "pair.between_leaves_slow";
    case CulpritKind::fabric:
      return "pair.fabric_slow";
    default:
      return "pair.slow";
  }
}

/// Own MTU wrong and path MTU too small are two causes with two remedies.
const char* mtu_cause(const Culprit& culprit, const Observation& observation) {
  for (const RailFact& fact : observation.facts) {
    const bool wrong = fact.mtu > 0 && fact.mtu_declared > 0 && fact.mtu != fact.mtu_declared;
    if (wrong && culprit.ends[0].node == fact.node && culprit.ends[0].rail == fact.rail) return "mtu.not_as_declared";
  }
  return "pair.mtu_path";
}

const char* cause_of(const Culprit& culprit, const Observation& observation) {
  if (culprit.kind == CulpritKind::unexplained) return "pair.unexplained";
  if (culprit.kind == CulpritKind::crossed) return "pair.rails_crossed";
  if (culprit.kind == CulpritKind::duplicate_address) return "pair.duplicate_address";
  switch (culprit.effect) {
    case Effect::route:
      return "pair.wrong_route";
    case Effect::neighbour:
      return "pair.wrong_neighbour";
    case Effect::echo:
      return "pair.echoes_filtered";
    case Effect::unreachable:
      return culprit.kind == CulpritKind::between ? "pair.between_leaves_unreachable" : "pair.unreachable";
    case Effect::down:
      return "link.down";
    case Effect::mtu:
      return mtu_cause(culprit, observation);
    case Effect::loss:
      return "pair.packet_loss";
    case Effect::unstable:
      return "pair.inconsistent";
    case Effect::flows:
      return "pair.flows_lost";
    case Effect::flows_blocked:
      return "pair.mtu_path";
    case Effect::flows_late:
      return "pair.flows_late";
    case Effect::flow_slow:
      return "pair.flow_slow";
    case Effect::stall:
      return "pair.stalls";
    case Effect::segment:
      return "pair.segment_small";
    case Effect::half_duplex:
      return "pair.half_duplex";
    case Effect::contention:
      return "pair.contention";
    default:
      return slow_cause(culprit.kind);
  }
}

std::string name(const std::vector<std::string>& names, int index) {
  return index >= 0 && index < static_cast<int>(names.size()) ? names[index] : "";
}

std::string netdev_of(const Observation& observation, const End& end) {
  for (const RailFact& fact : observation.facts) {
    if (fact.node == end.node && fact.rail == end.rail) return fact.netdev;
  }
  return "";
}

Subject subject_of(const Culprit& culprit, const Observation& observation) {
  Subject subject;
  if (culprit.ends.empty()) return subject;
  const End& end = culprit.ends[0];
  subject.host = name(observation.nodes, end.node);
  subject.rail = name(observation.rails, end.rail);
  if (end.node >= 0) subject.netdev = netdev_of(observation, end);
  if (end.way != Way::both && end.node >= 0) subject.direction = to_string(end.way);
  int peers = 0;
  for (const End& other : culprit.ends) {
    if (other.node == end.node) continue;
    const std::string peer = name(observation.nodes, other.node);
    peers += peer != subject.peer;
    subject.peer = peer;
  }
  if (culprit.kind == CulpritKind::duplicate_address && peers > 1) subject.peer.clear();
  if (culprit.kind == CulpritKind::pair) subject.netdev.clear();
  return subject;
}

std::string hosts(const std::vector<int>& nodes, const Observation& observation) {
  std::vector<std::string> names;
  for (const int node : nodes) names.push_back(name(observation.nodes, node));
  return fold_hosts(names);
}

std::string sides(const Culprit& culprit, const Observation& observation) {
  const auto side = [&](const std::string& leaf, const std::vector<int>& nodes) {
    return leaf.empty() ? hosts(nodes, observation) : fmt::format("{} ({})", leaf, hosts(nodes, observation));
  };
  if (culprit.group_b.empty()) return "all leaves of " + hosts(culprit.group_a, observation);
  const char* arrow = culprit.ends[0].way == Way::both ? "and" : culprit.ends[0].way == Way::tx ? "towards" : "from";
  const std::string rest = culprit.leaf_b.empty() && !culprit.leaf_a.empty() ? "every other leaf " : "";
  return fmt::format("{} {} {}{}", side(culprit.leaf_a, culprit.group_a), arrow, rest,
                     side(culprit.leaf_b, culprit.group_b));
}

std::string share_text(double share, int decimals) {
  return fmt::format("{:.{}f}%", share * 100, decimals);
}
std::string loss_text(double share, int digits) {
  return fmt::format("{:.{}g}%", share * 100, share >= 0.995 ? std::max(digits, 3) : digits);
}

/// The floor and the share found, as texts that differ where they do.
std::pair<std::string, std::string> shares(double share, const Observation& observation) {
  if (observation.share_floor <= 0 || share < 0) return {share_text(observation.share_floor, 0), share_text(share, 0)};
  return apart(observation.share_floor, share, 0, share_text);
}
std::pair<std::string, std::string> losses(double loss, const Observation& observation) {
  return apart(observation.loss_ceiling, loss, 2, loss_text);
}

std::string expected_text(const Culprit& culprit, const Observation& observation) {
  switch (culprit.effect) {
    case Effect::crossed:
      return "each interface in the network of its own rail";
    case Effect::duplicate:
      return "one interface answers for the address";
    case Effect::route:
      return "the kernel sends to peers through the rail's interface";
    case Effect::neighbour:
      return "the hardware address that answers ARP";
    case Effect::down:
      return "link up";
    case Effect::mtu:
      break;
    case Effect::unreachable:
      return "peer reached on this rail";
    case Effect::echo:
      return "echoes are answered";
    case Effect::flows:
      return "every TCP connection is answered";
    case Effect::flows_blocked:
      return "full-size segments pass on every TCP connection";
    case Effect::flows_late:
      return "TCP connections are answered at once";
    case Effect::stall:
      return "data arrives without a pause";
    case Effect::flow_slow:
      return "every TCP connection is about as fast";
    case Effect::segment:
      return "TCP segments that fill the declared MTU";
    case Effect::half_duplex:
      return "both directions at once carry what they carry one by one";
    case Effect::loss:
      return "at most " + losses(culprit.loss, observation).first + " of frames lost";
    default:
      return observation.share_floor > 0
                 ? "at least " + shares(culprit.share, observation).first + " of the expected rate"
                 : std::string("rate within the limit");
  }
  for (const RailFact& fact : observation.facts) {
    const bool mine = fact.node == culprit.ends[0].node && fact.rail == culprit.ends[0].rail;
    if (mine && fact.mtu_declared > 0) return fmt::format("MTU {}", fact.mtu_declared);
  }
  return "frames of the declared MTU pass";
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Which frames pass and which do not: by the interface's own MTU, or by the probe.
std::string mtu_text(const Culprit& culprit, const Observation& observation) {
  for (const RailFact& fact : observation.facts) {
    if (fact.node != culprit.ends[0].node || fact.rail != culprit.ends[0].rail || fact.mtu_declared <= 0) continue;
    if (fact.mtu > 0 && fact.mtu != fact.mtu_declared) return fmt::format("; MTU {}", fact.mtu);
    return fmt::format("; small frames pass, those of the declared MTU, {}, do not", fact.mtu_declared);
  }
  return "; small frames pass, those of the declared MTU do not";
}

/// A rate says something of it: what is crossed or has too small an MTU carries nothing, or what it happens to.
bool is_of_rate(Effect effect) {
  return effect == Effect::slow || effect == Effect::unstable || effect == Effect::half_duplex ||
         effect == Effect::contention || effect == Effect::loss;
}

std::string found_text(const Culprit& culprit, const Observation& observation) {
  if (culprit.kind == CulpritKind::misrouted) return culprit.text;
  std::set<NodePair> pairs;
  for (const DirectedPath& path : culprit.evidence) {
    pairs.insert({std::min(path.from, path.to), std::max(path.from, path.to)});
  }
  std::string text = fmt::format("{}: {} of {}", to_string(culprit.effect), counted(culprit.evidence.size(), "path"),
                                 counted(pairs.size(), "pair"));
  if (culprit.effect == Effect::mtu) text += mtu_text(culprit, observation);
  if (culprit.share >= 0 && is_of_rate(culprit.effect))
    text += fmt::format(", median {} of the {}", shares(culprit.share, observation).second,
                        culprit.effect == Effect::half_duplex ? "sum" : "expected rate");
  if (culprit.effect == Effect::loss)
    text += ", median " + losses(culprit.loss, observation).second + " of frames lost";
  if (culprit.kind == CulpritKind::between) text += ", between " + sides(culprit, observation);
  if (culprit.contradicted > 0)
    text += fmt::format(", but {} of the same part {} good",
                        counted(static_cast<std::size_t>(culprit.contradicted), "path"),
                        culprit.contradicted == 1 ? "is" : "are");
  if (!culprit.text.empty()) text += "; " + culprit.text;
  return text;
}

std::string path_text(const DirectedPath& path, const PathTable& table, const Observation& observation) {
  const Cell& cell = table.at(path.rail, path.from, path.to);
  std::string text = fmt::format("{} → {} {}: ", name(observation.nodes, path.from), name(observation.nodes, path.to),
                                 name(observation.rails, path.rail));
  if (cell.mtu) return text + "full-size frames do not pass";
  if (cell.echo) return text + "no echo is answered";
  if (cell.state == PathClass::unreachable) return text + (cell.deaf ? "no connection is answered" : "unreachable");
  if (cell.flows_lost > 0) return text + fmt::format("{:.1f}% of TCP connections never answered", cell.flows_lost * 100);
  if (cell.flows_blocked > 0)
    return text + fmt::format("{:.1f}% of TCP connections carry small packets alone", cell.flows_blocked * 100);
  if (cell.flows_late > 0) return text + fmt::format("{:.1f}% of TCP connections late", cell.flows_late * 100);
  if (cell.stall > 0) return text + fmt::format("nothing arrives for {:.1f} s", cell.stall);
  if (cell.flow_slow > 0) return text + fmt::format("a TCP connection takes {:.0f} times as long as most", cell.flow_slow);
  if (cell.segment > 0) return text + fmt::format("TCP segments of {} bytes", cell.segment);
  const bool loss_alone = cell.share < 0 && cell.loss > 0;
  if (!loss_alone) text += cell.share >= 0 ? shares(cell.share, observation).second : std::string("below the limit");
  if (cell.loss > 0) text += fmt::format("{}{:.2f}% of frames lost", loss_alone ? "" : ", ", cell.loss * 100);
  return text + (cell.retested ? ", alone" : "");
}

Verdict verdict_of(const Culprit& culprit, Verdict by_catalogue) {
  if (culprit.effect == Effect::contention) return culprit.again ? by_catalogue : Verdict::inconclusive;
  return culprit.confidence < settled ? Verdict::inconclusive : by_catalogue;
}

}  // namespace

std::vector<Finding> findings(const std::vector<Culprit>& culprits, const Observation& observation) {
  std::vector<Finding> out;
  if (culprits.empty()) return out;
  const PathTable table(observation);
  for (const Culprit& culprit : culprits) {
    Finding finding = make_finding(cause_of(culprit, observation), subject_of(culprit, observation),
                                   expected_text(culprit, observation), found_text(culprit, observation));
    finding.verdict = verdict_of(culprit, finding.verdict);
    for (const DirectedPath& path : culprit.evidence) {
      if (finding.evidence.size() == max_evidence) break;
      finding.evidence.push_back({.text = path_text(path, table, observation)});
    }
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace fabricgate::fabric
