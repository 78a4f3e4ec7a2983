/// Method. What is wrong on a path without RDMA is wrong with it too, so only what that leaves unexplained is looked
/// at. An end that could not be opened says so itself: it is the finding of its node, and every pair of it an echo. The
/// rest is localised as bandwidth is; where nothing came through, the cause is what RDMA told of the paths in question.
#include <algorithm>
#include <map>

#include "suites/gate/fold_culprits.hpp"

namespace fabricgate::suites {
namespace {

std::vector<const Exhibit*> failed_pairs(const Fold& fold) {
  std::vector<const Exhibit*> out;
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.record.check == "pair.rdma" && exhibit.nodes.size() == 2 &&
        (exhibit.record.verdict == Verdict::fail || exhibit.record.verdict == Verdict::blocked) &&
        !exhibit.record.findings.empty() && fold.forgiven.count(&exhibit) == 0)
      out.push_back(&exhibit);
  return out;
}

void fold_closed_ends(Fold& fold, const std::vector<const Exhibit*>& failed, Explained& explained) {
  for (const Exhibit* exhibit : failed) {
    const Finding& finding = exhibit->record.findings[0];
    if (!finding.subject.peer.empty() || exhibit->paths.empty()) continue;
    const bool of_a = finding.subject.host == exhibit->record.hosts[0];
    const int node = exhibit->nodes[of_a ? 0 : 1];
    fold.add(node, Tier::pair, finding);
    for (int peer = 0; peer < static_cast<int>(fold.nodes()); ++peer) {
      explained.add(node, peer, exhibit->paths[0].rail);
      explained.add(peer, node, exhibit->paths[0].rail);
    }
  }
}

}  // namespace

void fold_rdma(Fold& fold, const std::vector<bool>& lost, Explained& explained) {
  const std::vector<const Exhibit*> failed = failed_pairs(fold);
  fold_closed_ends(fold, failed, explained);
  fabric::Observation observation = rdma_observation(fold.input, fold.exhibits.records);
  const auto drop = [&, forgotten = forgiven_paths(fold, "pair.rdma")](const fabric::PathResult& path) {
    const bool silenced = lost[static_cast<std::size_t>(path.from)] || lost[static_cast<std::size_t>(path.to)];
    return path.result != fabric::PathClass::good && (silenced || explained.has(path) || forgotten.has(path));
  };
  observation.paths.erase(std::remove_if(observation.paths.begin(), observation.paths.end(), drop),
                          observation.paths.end());
  std::map<std::tuple<int, int, int>, const Finding*> told;
  for (const Exhibit* exhibit : failed)
    for (const fabric::PathResult& path : exhibit->paths)
      if (path.result == fabric::PathClass::unreachable)
        told.insert({{path.from, path.to, path.rail}, &exhibit->record.findings[0]});
  fold_culprits(fold, observation, explained, {"pair.rdma_share", ""},
                [&](const fabric::Culprit& culprit, Finding& finding) {
                  finding.expected += ", over RDMA";
                  if (culprit.effect != fabric::Effect::unreachable || culprit.evidence.empty()) return;
                  const fabric::DirectedPath& path = culprit.evidence[0];
                  const auto cause = told.find({path.from, path.to, path.rail});
                  if (cause == told.end()) return;
                  finding.cause = cause->second->cause;
                  finding.found += "; " + cause->second->found;
                });
}

}  // namespace fabricgate::suites
