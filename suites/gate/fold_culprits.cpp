#include "suites/gate/fold_culprits.hpp"

#include <algorithm>

#include "suites/checks/judging.hpp"

namespace fabricgate::suites {
namespace {

/// Findings of one node of a tier before, or of the end, about this rail: then the pair is only its echo.
bool known_before(const NodeResult& node, const Finding& finding) {
  return std::any_of(node.findings.begin(), node.findings.end(), [&](const Finding& other) {
    return !opens_gate(other.verdict) && other.primary && other.cause.rfind("gate.", 0) != 0 &&
           (other.subject.rail == finding.subject.rail || other.subject.rail.empty());
  });
}

/// The limit that made the culprit's paths bad, and the declared rate it is a share of; localisation knows classes
/// alone.
void name_limit(const Fold& fold, const fabric::Culprit& culprit, const HeldAgainst& metrics, Finding& finding) {
  using fabric::Effect;
  const bool slow =
      culprit.effect == Effect::slow || culprit.effect == Effect::unstable || culprit.effect == Effect::contention;
  const char* metric = culprit.effect == Effect::loss          ? metrics.loss
                       : culprit.effect == Effect::half_duplex ? "pair.both_share"
                       : slow                                  ? metrics.share
                                                               : "";
  if (const Limit* limit = fold.input.limits.find(metric)) finding.limit = limit_text(metric, *limit);
  const Rail* rail = nullptr;
  for (const Node& node : fold.input.inventory.nodes)
    if (rail == nullptr && (finding.subject.host.empty() || node.name == finding.subject.host))
      rail = declared_rail(&node, finding.subject.rail);
  if (!slow || rail == nullptr) return;
  const double declared = rail->rate_bits_per_s / 8;
  finding.expected += " (declared " + rate_text(declared) + ")";
  if (culprit.kind == fabric::CulpritKind::fabric && culprit.share >= 0)
    finding.found += "; median " + rate_text(culprit.share * declared);
}

}  // namespace

std::vector<fabric::Culprit> fold_culprits(Fold& fold, const fabric::Observation& observation, Explained& explained,
                                           const HeldAgainst& metrics,
                                           const std::function<void(const fabric::Culprit&, Finding&)>& amend) {
  std::vector<fabric::Culprit> shutting;
  const std::vector<fabric::Culprit> culprits = fabric::localise(observation);
  std::vector<Finding> list = fabric::findings(culprits, observation);
  for (std::size_t i = 0; i < culprits.size() && i < list.size(); ++i) {
    Finding& finding = list[i];
    name_limit(fold, culprits[i], metrics, finding);
    if (amend) amend(culprits[i], finding);
    if (!opens_gate(finding.verdict)) {
      for (const fabric::DirectedPath& path : culprits[i].evidence) explained.add(path.from, path.to, path.rail);
      shutting.push_back(culprits[i]);
    }
    using fabric::CulpritKind;
    const CulpritKind kind = culprits[i].kind;
    const bool of_nodes = kind == CulpritKind::node || kind == CulpritKind::rail || kind == CulpritKind::direction ||
                          kind == CulpritKind::crossed || kind == CulpritKind::duplicate_address ||
                          kind == CulpritKind::misrouted;
    if (!of_nodes || culprits[i].ends.empty()) {
      fold.result.findings.push_back(finding);
      continue;
    }
    const auto subject = fold.input.inventory.find(finding.subject.host);
    if (!subject) {
      fold.result.findings.push_back(finding);
      continue;
    }
    const int owner = static_cast<int>(*subject);
    if (known_before(fold.node(owner), finding)) finding.primary = false;
    fold.add(owner, Tier::pair, finding);
    if (kind != CulpritKind::crossed) continue;
    for (const fabric::End& end : culprits[i].ends)  // both ends of the swap must be touched
      if (end.node >= 0 && end.node < static_cast<int>(fold.nodes())) fold.fold(end.node, Tier::pair, finding.verdict);
  }
  return shutting;
}

Explained forgiven_paths(const Fold& fold, const char* check) {
  Explained out;
  for (const Exhibit* exhibit : fold.forgiven)
    for (const fabric::PathResult& path : exhibit->paths)
      if (exhibit->record.check == check) out.add(path.from, path.to, path.rail);
  return out;
}

}  // namespace fabricgate::suites
