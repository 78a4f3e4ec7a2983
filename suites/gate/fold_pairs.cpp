#include <algorithm>
#include <set>

#include "suites/gate/fold_culprits.hpp"
#include "suites/gate/pair_groups.hpp"

namespace fabricgate::suites {
namespace {

/// Loss is the first cause of a path: answers get lost too, so that it is slow both ways, and what else is measured through
/// a lossy end says nothing of its own.
void fold_losses(Fold& fold, Explained& explained) {
  const fabric::Observation observation = loss_observation(fold.input, fold.exhibits.records);
  for (const fabric::Culprit& culprit : fold_culprits(fold, observation, explained, {"pair.bandwidth_share", "pair.frame_loss"})) {
    for (const fabric::DirectedPath& path : culprit.evidence) explained.add(path.to, path.from, path.rail);
    using fabric::CulpritKind;
    if (culprit.kind != CulpritKind::direction && culprit.kind != CulpritKind::rail && culprit.kind != CulpritKind::node) continue;
    const fabric::End& end = culprit.ends[0];
    for (int rail = 0; rail < static_cast<int>(observation.rails.size()); ++rail)
      for (int peer = 0; peer < static_cast<int>(fold.nodes()) && (end.rail < 0 || end.rail == rail); ++peer) {
        explained.add(end.node, peer, rail);
        explained.add(peer, end.node, rail);
      }
  }
}

/// A pair finding is an echo when a culprit explains the path in its direction, or when an end is shut by itself.
bool is_echo(const Fold& fold, const Explained& explained, const std::vector<std::string>& rails, const Exhibit& exhibit) {
  const auto tampered = [](const Finding& finding) {
    return finding.cause == "gate.verdict_edited" || finding.cause == "gate.record_conflict";
  };
  if (std::any_of(exhibit.record.findings.begin(), exhibit.record.findings.end(), tampered)) return false;
  if (fold.shut(exhibit.nodes[0]) || fold.shut(exhibit.nodes[1])) return true;
  if (exhibit.record.findings.empty()) return false;
  if (exhibit.paths.empty()) {
    if (exhibit.record.check != "pair.reach" || exhibit.reach.empty()) return false;
    return std::all_of(exhibit.record.findings.begin(), exhibit.record.findings.end(), [&](const Finding& finding) {
      const auto own = static_cast<int>(std::find(rails.begin(), rails.end(), finding.subject.rail) - rails.begin());
      const bool forward = finding.subject.host == exhibit.record.hosts[0];
      return explained.has({.from = exhibit.nodes[forward ? 0 : 1], .to = exhibit.nodes[forward ? 1 : 0], .rail = own}) ||
             explained.has({.from = exhibit.nodes[forward ? 1 : 0], .to = exhibit.nodes[forward ? 0 : 1], .rail = own});
    });
  }
  bool any = false;
  for (const fabric::PathResult& path : exhibit.paths) {
    if (path.result == fabric::PathClass::good) continue;
    if (!explained.has(path)) return false;
    any = true;
  }
  return any;
}

/// A finding of a pair that nothing explains: it stands for itself, and neither end may be called good.
void stand_alone(Fold& fold, const Exhibit& exhibit) {
  for (const Finding& finding : exhibit.record.findings) fold.result.findings.push_back(finding);
  if (exhibit.record.findings.empty())
    fold.miss({exhibit.record.check, exhibit.record.hosts, exhibit.record.rail,
               exhibit.record.reason.empty() ? to_string(exhibit.record.verdict) : exhibit.record.reason},
              Tier::pair, -1);
  for (const int node : exhibit.nodes) fold.fold(node, Tier::pair, Verdict::inconclusive);
}

/// The node to touch for what this check found.
int culprit_of(const Fold& fold, const std::vector<const Exhibit*>& bad, const std::string& check) {
  NodePairs pairs;
  for (const Exhibit* exhibit : bad)
    if (exhibit->record.check == check) pairs.emplace_back(exhibit->nodes[0], exhibit->nodes[1]);
  return common_node(pairs, fold.nodes());
}

/// Findings of latency, content or the overlay, which localisation does not see.
void fold_unexplained(Fold& fold, std::vector<const Exhibit*> bad) {
  for (const char* check : {"pair.reach", "pair.rail", "pair.rdma", "pair.overlay"}) {
    for (int culprit = culprit_of(fold, bad, check); culprit >= 0; culprit = culprit_of(fold, bad, check)) {
      const auto shares = [&](const Exhibit* exhibit) {
        return exhibit->record.check == check && (exhibit->nodes[0] == culprit || exhibit->nodes[1] == culprit);
      };
      const auto first = std::find_if(bad.begin(), bad.end(), shares);
      for (Finding finding : (*first)->record.findings) {
        const std::string& own = fold.node(culprit).name;
        if (finding.subject.host != own && finding.subject.peer == own) {
          std::swap(finding.subject.host, finding.subject.peer);
          if (!finding.subject.direction.empty()) finding.subject.direction = finding.subject.direction == "tx" ? "rx" : "tx";
        }
        finding.subject.peer.clear();
        fold.add(culprit, Tier::pair, finding);
      }
      fold.fold(culprit, Tier::pair, (*first)->record.verdict);
      bad.erase(std::remove_if(bad.begin(), bad.end(), shares), bad.end());
    }
  }
  for (const Exhibit* exhibit : bad) stand_alone(fold, *exhibit);
}

/// A path that is bad for a known part warns of nothing else.
void forget_explained(const Explained& explained, const std::vector<std::string>& rails, std::vector<PairWarning>& warnings) {
  const auto told = [&](const PairWarning& warning) {
    const auto rail = static_cast<int>(std::find(rails.begin(), rails.end(), warning.finding.subject.rail) - rails.begin());
    return explained.has({.from = warning.a, .to = warning.b, .rail = rail}) || explained.has({.from = warning.b, .to = warning.a, .rail = rail});
  };
  warnings.erase(std::remove_if(warnings.begin(), warnings.end(), told), warnings.end());
}

/// "Node x left in this tier", written by the harness.
void fold_statements(Fold& fold) {
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.tier != Tier::pair || exhibit.nodes.size() != 1) continue;
    for (const Finding& finding : exhibit.record.findings) fold.add(exhibit.nodes[0], Tier::pair, finding);
    fold.fold(exhibit.nodes[0], Tier::pair, exhibit.record.verdict);
  }
}

}  // namespace

void fold_pairs(Fold& fold) {
  if (!fold.demanded("pair.rail") && !fold.demanded("pair.reach") && !fold.demanded("pair.overlay")) return;
  fold_statements(fold);
  std::vector<bool> lost(fold.nodes());  // what was being measured with it when it fell silent tells nothing of the path
  for (std::size_t node = 0; node < lost.size(); ++node) lost[node] = fold.shut(static_cast<int>(node));
  const std::vector<Group> groups = groups_of(fold.exhibits);
  std::set<const Exhibit*>& forgiven = fold.forgiven;
  std::vector<const Exhibit*> bad;
  std::vector<PairWarning> warnings;
  for (const Group& group : groups) {
    const Exhibit* slow = slow_once(group);
    if (slow != nullptr) forgiven.insert(slow);
    warn(group, slow, warnings);
    for (const Exhibit* exhibit : group) {
      if (!opens_gate(exhibit->record.verdict) && forgiven.count(exhibit) == 0 && exhibit->record.verdict != Verdict::skip) bad.push_back(exhibit);
      if (forgiven.count(exhibit) != 0 || opens_gate(exhibit->record.verdict))
        for (const int node : exhibit->nodes) fold.fold(node, Tier::pair, Verdict::pass);
    }
  }
  const std::set<int> frozen = fold_stalls(fold);
  for (const int node : frozen) lost[static_cast<std::size_t>(node)] = true;
  const auto told = [&](const PairWarning& warning) { return frozen.count(warning.a) != 0 || frozen.count(warning.b) != 0; };
  warnings.erase(std::remove_if(warnings.begin(), warnings.end(), told), warnings.end());
  if (bad.empty() && !answered_by_another(fold.exhibits.records)) return fold_warnings(fold, std::move(warnings));
  fabric::Observation observation = pair_observation(fold.input, fold.exhibits.records);
  if (const Limit* share = fold.input.limits.find("pair.bandwidth_share"); share && share->low)
    observation.share_floor = *share->low;
  Explained explained;
  fold_losses(fold, explained);
  if (const Limit* most = fold.input.limits.find("pair.retransmit_share"); most != nullptr && most->high)
    observation.loss_ceiling = *most->high;
  const auto drop = [&, lossy = explained, forgotten = forgiven_paths(fold, "pair.rail")](const fabric::PathResult& path) {
    if (path.tentative) return true;
    const bool silenced = lost[static_cast<std::size_t>(path.from)] || lost[static_cast<std::size_t>(path.to)];
    return path.result != fabric::PathClass::good && (silenced || lossy.has(path) || forgotten.has(path));
  };
  observation.paths.erase(std::remove_if(observation.paths.begin(), observation.paths.end(), drop), observation.paths.end());
  fold_culprits(fold, observation, explained, {"pair.bandwidth_share", "pair.retransmit_share"});
  fold_rdma(fold, lost, explained);
  const auto echo = [&](const Exhibit* exhibit) { return is_echo(fold, explained, observation.rails, *exhibit); };
  bad.erase(std::remove_if(bad.begin(), bad.end(), echo), bad.end());
  fold_unexplained(fold, std::move(bad));
  forget_explained(explained, observation.rails, warnings);
  fold_warnings(fold, std::move(warnings));
}

}  // namespace fabricgate::suites
