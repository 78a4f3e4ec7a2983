#include <algorithm>
#include <set>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

bool degraded(const Finding& finding, const std::string& rail) {
  return finding.cause == "link.speed_degraded" && finding.subject.rail == rail && !opens_gate(finding.verdict);
}

/// The finding of each node's record of the rail; empty when one of them, or the only one, has none, or another.
std::vector<const Finding*> same_everywhere(const Fold& fold, const std::string& rail) {
  std::vector<const Finding*> out;
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != "link.rail" || exhibit.record.rail != rail || !exhibit.rail || exhibit.rail->down)
      continue;
    const auto& findings = exhibit.record.findings;
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& each) { return degraded(each, rail); });
    if (found == findings.end()) return {};
    if (!out.empty() && (out[0]->found != found->found || out[0]->expected != found->expected)) return {};
    out.push_back(&*found);
  }
  return out.size() < 2 ? std::vector<const Finding*>() : out;
}

}  // namespace

/// Links of all nodes at the same lower speed: not one cable each, but the declared rate, the switch or a setting of
/// all. The nodes stay shut, since nothing was proven of them, but none of them is the cause.
void fold_declared(Fold& fold) {
  if (!fold.demanded("link.rail")) return;
  for (const std::string& rail : rail_names(fold.input.inventory)) {
    const auto same = same_everywhere(fold, rail);
    if (same.empty()) continue;
    Finding finding =
        make_finding("pair.fabric_slow", {.rail = rail}, same[0]->expected + " as declared",
                     "the links of all " + std::to_string(same.size()) + " nodes measured have " + same[0]->found);
    finding.limit = same[0]->limit;
    fold.result.findings.push_back(std::move(finding));
    for (NodeResult& node : fold.result.nodes)
      for (Finding& each : node.findings)
        if (degraded(each, rail)) each.primary = false;
  }
}

}  // namespace fabricgate::suites
