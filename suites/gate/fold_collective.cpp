#include <algorithm>
#include <set>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

/// Attempts after the first over fewer nodes search for the group that is slow; they are no verdict of their own while the
/// larger one has failed.
bool is_search(const Exhibit& exhibit, const std::vector<const Exhibit*>& all) {
  if (exhibit.record.attempt == 0 || exhibit.nodes.size() < 2) return false;
  return std::any_of(all.begin(), all.end(), [&](const Exhibit* other) {
    return other != &exhibit && !opens_gate(other->record.verdict) && other->nodes.size() > exhibit.nodes.size();
  });
}

/// Slow once, then good in both repetitions over the same nodes: a warning, as for pairs.
bool recovered(const Exhibit& exhibit, const std::vector<const Exhibit*>& all) {
  const auto slow = [](const Finding& finding) { return finding.cause == "collective.below_floor"; };
  if (exhibit.record.attempt != 0 || exhibit.record.verdict != Verdict::fail) return false;
  if (!std::all_of(exhibit.record.findings.begin(), exhibit.record.findings.end(), slow)) return false;
  int good = 0;
  for (const Exhibit* other : all) {
    if (other == &exhibit || other->nodes != exhibit.nodes) continue;
    if (!opens_gate(other->record.verdict)) return false;
    ++good;
  }
  return good >= 2;
}

void warn_unstable(Fold& fold, const Exhibit& exhibit) {
  fold.forgiven.insert(&exhibit);
  const auto& findings = exhibit.record.findings;
  fold.result.findings.push_back(
      make_finding("collective.unstable", {}, "good at the first measurement", findings.empty() ? "below the floor once" : findings[0].found));
}

/// "Node x left in this tier", written by the harness: the cause of whatever its partners say of it.
void fold_statement(Fold& fold, const Exhibit& exhibit) {
  for (const Finding& finding : exhibit.record.findings) fold.add(exhibit.nodes[0], Tier::collective, finding);
  fold.fold(exhibit.nodes[0], Tier::collective, exhibit.record.verdict);
}

bool lost(const NodeResult& node) {
  return std::any_of(node.findings.begin(), node.findings.end(),
                     [](const Finding& finding) { return finding.primary && !opens_gate(finding.verdict) && finding.cause.rfind("launch.", 0) == 0; });
}

/// A rail of the node was found dark when the collective had failed (the harness's statement): the others waited for
/// it.
bool dark(const NodeResult& node) {
  return std::any_of(node.findings.begin(), node.findings.end(), [](const Finding& finding) {
    return finding.primary && !opens_gate(finding.verdict) && finding.cause == "pair.unreachable";
  });
}

/// A rail is slow everywhere. The time of the collective follows the declared rates: that it did not end in it is no
/// node's fault.
bool late(const Fold& fold, const Finding& finding) {
  const auto& known = fold.result.findings;
  return finding.cause == "collective.failed" && std::any_of(known.begin(), known.end(), [](const Finding& other) {
           return other.primary && !opens_gate(other.verdict) && other.cause == "pair.fabric_slow";
         });
}

/// A path between nodes that all take part is already blamed: the collective over it is slow for that reason. A node that the
/// launcher lost: of course it did not arrive.
bool is_echo(Fold& fold, const Exhibit& exhibit, const Finding& finding) {
  if (late(fold, finding)) return true;
  if (finding.cause == "collective.failed" && (finding.subject.host.empty() || !finding.subject.peer.empty()))
    return std::any_of(exhibit.nodes.begin(), exhibit.nodes.end(), [&](int node) { return dark(fold.node(node)) || lost(fold.node(node)); });
  if (finding.cause == "collective.failed") {
    const auto node = fold.input.inventory.find(finding.subject.host);
    return node && lost(fold.node(static_cast<int>(*node)));
  }
  if (finding.cause != "collective.below_floor") return false;
  const auto& known = fold.result.findings;
  return std::any_of(known.begin(), known.end(), [](const Finding& other) {
    return other.primary && !opens_gate(other.verdict) && other.cause.rfind("pair.", 0) == 0;
  });
}

/// A repetition over the same nodes that failed again tells nothing new.
bool repeats(const Exhibit& exhibit, const std::vector<const Exhibit*>& all) {
  const auto failed = [](const Exhibit& each) {
    return std::any_of(each.record.findings.begin(), each.record.findings.end(), [](const Finding& finding) { return finding.cause == "collective.failed"; });
  };
  return failed(exhibit) && std::any_of(all.begin(), all.end(), [&](const Exhibit* other) {
           return other->nodes == exhibit.nodes && other->record.attempt < exhibit.record.attempt && failed(*other);
         });
}

void fold_record(Fold& fold, const Exhibit& exhibit, bool search) {
  bool named = false;
  for (Finding finding : exhibit.record.findings) {
    named = named || !opens_gate(finding.verdict);
    finding.primary = finding.primary && !search && !is_echo(fold, exhibit, finding);
    const auto node = fold.input.inventory.find(finding.subject.host);
    const bool of_one_node = node && finding.subject.peer.empty() && (finding.cause.rfind("gate.", 0) != 0 || exhibit.nodes.size() == 1);
    if (of_one_node && !search && !late(fold, finding)) {
      fold.add(static_cast<int>(*node), Tier::collective, finding);
    } else {
      fold.result.findings.push_back(finding);
    }
  }
  if (!opens_gate(exhibit.record.verdict) && !named)
    fold.miss({exhibit.record.check, exhibit.record.hosts, "",
               exhibit.record.reason.empty() ? to_string(exhibit.record.verdict) : exhibit.record.reason},
              Tier::collective, exhibit.nodes.size() == 1 ? exhibit.nodes[0] : -1);
  if (opens_gate(exhibit.record.verdict))
    for (const int node : exhibit.nodes) fold.fold(node, Tier::collective, Verdict::pass);
}

}  // namespace

void fold_collective(Fold& fold) {
  if (!fold.demanded("collective.allreduce")) return;
  std::vector<const Exhibit*> all;
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.record.check == "collective.allreduce") all.push_back(&exhibit);
  const auto is_statement = [](const Exhibit* exhibit) { return exhibit->nodes.size() == 1 && !exhibit->record.findings.empty(); };
  for (const Exhibit* exhibit : all)
    if (is_statement(exhibit)) fold_statement(fold, *exhibit);
  for (const Exhibit* exhibit : all)
    if (recovered(*exhibit, all)) {
      warn_unstable(fold, *exhibit);
    } else if (!is_statement(exhibit)) {
      fold_record(fold, *exhibit, is_search(*exhibit, all) || repeats(*exhibit, all));
    }
  std::set<int> healthy;
  for (int node = 0; node < static_cast<int>(fold.nodes()); ++node)
    if (!fold.shut(node)) healthy.insert(node);
  if (healthy.size() < 2 && fold.required_shut())
    return fold.miss({"collective.allreduce", {}, "", "fewer than two good nodes were left to run it on"}, Tier::collective, -1);
  const auto measured = [](const Exhibit* exhibit) { return exhibit->nodes.size() > 1; };
  const auto planned = [&](const Exhibit* exhibit) { return measured(exhibit) && exhibit->record.attempt == 0; };
  if (std::any_of(all.begin(), all.end(), measured) && std::none_of(all.begin(), all.end(), planned))
    fold.miss({"collective.allreduce", {}, "", "repetitions alone: no record of the first measurement"}, Tier::collective, -1);
  std::set<int> covered;
  for (const Exhibit* exhibit : all) {
    const std::set<int> nodes(exhibit->nodes.begin(), exhibit->nodes.end());
    if (nodes.size() < 2 || exhibit->record.verdict == Verdict::not_run) continue;
    if (std::includes(nodes.begin(), nodes.end(), healthy.begin(), healthy.end())) return;
    if (nodes.size() > covered.size()) covered = nodes;
  }
  // No run had all the healthy nodes at once. Optional ones may be left out.
  for (const int node : healthy) {
    if (covered.count(node) != 0) continue;
    const std::string& name = fold.node(node).name;
    const std::string reason = covered.empty() ? "no record" : "no run with all nodes has it";
    fold.add(node, Tier::collective, make_finding("gate.not_measured", {.host = name}, "collective.allreduce", reason));
    fold.miss({"collective.allreduce", {name}, "", reason}, Tier::collective, node);
  }
}

}  // namespace fabricgate::suites
