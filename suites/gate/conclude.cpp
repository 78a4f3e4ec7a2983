#include <algorithm>
#include <set>

#include "results/file.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {

/// Things that keep the gate shut whatever the records say.
void demand_something(Fold& fold) {
  const auto nothing = [&](const std::string& what) {
    fold.result.findings.push_back(make_finding("gate.nothing_demanded", {}, "nodes, checks and limits", what));
  };
  const auto& nodes = fold.input.inventory.nodes;
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.required; })) nothing("no required node");
  if (fold.input.suite.checks.empty()) nothing("a suite without checks");
  if (fold.input.limits.metrics.empty()) nothing("limits without a metric");
  const bool addons = fold.input.inventory.kubernetes && (!fold.input.through || *fold.input.through >= Tier::addons);
  if (!addons) return;
  fold.result.findings.push_back(make_finding("addons.not_run", {}, "records of the add-on tier", "none"));
  fold.result.missing.push_back({"addons", {}, "", "no record"});
}

/// What ended the run, or a part of it, and is no node's fault.
void tell_early_end(Fold& fold) {
  if (!fold.input.interrupted.empty())
    fold.result.findings.push_back(make_finding("launch.interrupted", {}, "a run to its end", fold.input.interrupted + " ended it"));
  if (!fold.input.unfinished.empty())
    fold.result.findings.push_back(make_finding("launch.job_unfinished", {}, "every job ends with its work done", fold.input.unfinished));
}

/// Safety net below all rules above: whatever they made of it, a record of required nodes that is not good and was not
/// forgiven keeps the gate shut. Such a case is a fault of this program, and says so.
void close_over_leftovers(Fold& fold) {
  for (const Exhibit& exhibit : fold.exhibits.records) {
    const Record& record = exhibit.record;
    if (opens_gate(record.verdict) || record.verdict == Verdict::skip || fold.forgiven.count(&exhibit) != 0) continue;
    if (fold.input.suite.find(record.check) == nullptr) continue;
    if (!std::all_of(exhibit.nodes.begin(), exhibit.nodes.end(), [&](int node) { return fold.required(node); })) continue;
    if (fold.input.through && record.tier > *fold.input.through) continue;
    fold.result.findings.push_back(make_finding("gate.unaccounted", {.host = record.hosts[0], .rail = record.rail},
                                                "an effect on the verdict", subject_key(record) + " is " + to_string(record.verdict)));
    return;
  }
}

Verdict own_verdict(const NodeResult& node) {
  if (node.tiers.empty()) return Verdict::not_run;
  Verdict verdict = Verdict::skip;
  for (const auto& [tier, value] : node.tiers) verdict = worse(verdict, value);
  return verdict;
}

void order_findings(std::vector<Finding>& findings) {
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) { return finding.primary; });
}

std::string describe(const Finding& finding) {
  const std::string subject = to_string(finding.subject);
  return finding.cause + (subject.empty() ? "" : " " + subject) + ": " + finding.found;
}

/// The first primary finding or missing piece that keeps the gate shut.
std::string first_reason(const GateResult& result) {
  const auto closes = [](const Finding& finding) { return finding.primary && !opens_gate(finding.verdict); };
  const auto explains = [](const Finding& finding) {
    return finding.cause == "launch.interrupted" || finding.cause == "launch.job_unfinished" || finding.cause == "gate.coverage";
  };
  for (const bool hard : {true, false}) {
    for (const Finding& finding : result.findings)  // what was cut short explains what is missing on nodes
      if (!hard && explains(finding)) return describe(finding);
    const auto wanted = [&](const Finding& finding) {
      return closes(finding) && (!hard || finding.verdict == Verdict::fail || finding.verdict == Verdict::blocked);
    };
    for (const NodeResult& node : result.nodes)
      for (const Finding& finding : node.findings)
        if (node.required && wanted(finding)) return describe(finding);
    for (const Finding& finding : result.findings)
      if (wanted(finding)) return describe(finding);
  }
  if (!result.missing.empty()) return to_string(result.missing[0]);
  for (const NodeResult& node : result.nodes)
    if (node.required && !opens_gate(node.verdict)) return node.name + " is " + to_string(node.verdict);
  return "";
}

/// Missing evidence that is not about optional nodes alone.
bool closes(const GateResult& result, const Missing& missing) {
  if (missing.hosts.empty()) return true;
  return std::all_of(missing.hosts.begin(), missing.hosts.end(), [&](const std::string& host) {
    const auto node = std::find_if(result.nodes.begin(), result.nodes.end(), [&](const NodeResult& n) { return n.name == host; });
    return node == result.nodes.end() || node->required;
  });
}

/// What a person must know who reads no more than this line.
std::string good_text(const GateResult& result, bool own_suite, bool own_limits) {
  std::string text = "READY";
  if (!result.only.empty()) {
    text = "PASS of ";
    for (const Tier tier : result.only) text += (tier == result.only.front() ? "" : ", ") + std::string(to_string(tier));
    text += " alone";
  }
  std::vector<std::string> notes;
  if (result.emulated) notes.push_back("emulated");
  if (own_suite) notes.push_back("own suite");
  if (own_limits) notes.push_back("own limits");
  if (notes.empty()) return text;
  std::string list;
  for (const std::string& note : notes) list += (list.empty() ? "" : ", ") + note;
  return text + " (" + list + ")";
}

}  // namespace

void conclude(Fold& fold) {
  GateResult& result = fold.result;
  demand_something(fold);
  tell_early_end(fold);
  result.findings.insert(result.findings.end(), fold.input.findings.begin(), fold.input.findings.end());
  Verdict verdict = Verdict::skip;
  for (NodeResult& node : result.nodes) {
    node.verdict = own_verdict(node);
    order_findings(node.findings);
    if (node.required) verdict = worse(verdict, node.verdict);
  }
  for (const Finding& finding : result.findings) verdict = worse(verdict, finding.verdict);
  for (const Missing& missing : result.missing)
    if (closes(result, missing)) verdict = worse(verdict, Verdict::not_run);
  if (opens_gate(verdict)) close_over_leftovers(fold);
  order_findings(result.findings);
  for (const Finding& finding : result.findings) verdict = worse(verdict, finding.verdict);
  if (verdict == Verdict::skip) verdict = Verdict::inconclusive;
  result.verdict = verdict;
  result.exit_code = fabricgate::exit_code(verdict);
  if (!opens_gate(verdict)) result.reason = first_reason(result);
  const std::set<Tier> only(fold.input.suite.only.begin(), fold.input.suite.only.end());
  result.only.assign(only.begin(), only.end());
  const bool own_suite = fold.input.suite.checksum != sha256_hex(default_suite_text());
  const bool own_limits = fold.input.limits.checksum != sha256_hex(default_limits_text());
  result.text = result.exit_code == ExitCode::ready       ? good_text(result, own_suite, own_limits)
                : result.exit_code == ExitCode::not_ready ? "NOT READY"
                                                          : "INCONCLUSIVE";
}

}  // namespace fabricgate::suites
