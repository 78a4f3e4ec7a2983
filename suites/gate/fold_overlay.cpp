/// Method. The management network has no declared rate, and its baseline is shared; but one node of which even the best
/// path is a small part of what most nodes reach has a trouble of its own. It carries the launcher, storage and logs, not the
/// training, so that this warns and does not close the gate.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

constexpr std::size_t least_nodes = 3;  // of two nobody can say which

}  // namespace

void fold_overlay(Fold& fold) {
  const Limit* share = fold.input.limits.find("overlay.rate_share");
  if (!fold.demanded("pair.overlay") || share == nullptr || !share->low) return;  // pair.overlay says so
  std::array<std::map<int, double>, 2> best;  // sending, receiving: the fastest path of a node
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != "pair.overlay" || !exhibit.figures || !opens_gate(exhibit.record.verdict)) continue;
    for (std::size_t i : {0, 1}) {
      const double rate = exhibit.figures->bytes_per_s[i];
      for (std::size_t end : {0, 1}) {
        double& fastest = best[end][exhibit.nodes[i ^ end]];
        fastest = std::max(fastest, rate);
      }
    }
  }
  for (std::size_t end : {0, 1}) {
    if (best[end].size() < least_nodes) continue;
    std::vector<double> rates;
    for (const auto& [node, rate] : best[end]) rates.push_back(rate);
    const double usual = median(rates);
    for (const auto& [node, rate] : best[end]) {
      if (rate >= *share->low * usual) continue;
      const Subject subject{.host = fold.node(node).name, .direction = end == 0 ? "tx" : "rx"};
      fold.add(node, Tier::pair,
               held_against(make_finding("overlay.node_slow", subject,
                                         fmt::format("{} of {}, which most nodes reach", percent_text(*share->low), rate_text(usual)),
                                         "at best " + rate_text(rate)),
                            "overlay.rate_share", *share));
    }
  }
}

}  // namespace fabricgate::suites
