#include <fmt/format.h>

#include <algorithm>

#include "results/cause.hpp"
#include "results/gate_result.hpp"

namespace fabricgate {
namespace {

/// Valid UTF-8 without what XML 1.0 forbids: bad bytes and control characters become '?'.
std::string clean(const std::string& text) {
  // nlohmann replaces invalid UTF-8; going through it once is cheaper than a decoder of our own
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out = nlohmann::json::parse(quoted).get<std::string>();
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  for (const char* forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"})  // U+FFFE and U+FFFF
    for (std::size_t at = out.find(forbidden); at != std::string::npos; at = out.find(forbidden)) out.replace(at, 3, "?");
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

struct Case {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string message, text;
};

std::string finding_text(const Finding& finding) {
  const Cause* cause = find_cause(finding.cause);
  return fmt::format("{} {}: expected {}; found {}\n{}\n", finding.cause, to_string(finding.subject), finding.expected, finding.found,
                     cause == nullptr ? "" : cause->remedy);
}

std::string case_xml(const std::string& suite, const Case& value) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(suite), escaped(value.name));
  const auto body = [&](const char* tag) {
    return fmt::format("{}>\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", head, tag, escaped(value.message), escaped(value.text), tag);
  };
  switch (value.verdict) {
    case Verdict::pass:
    case Verdict::warn: return head + "/>\n";
    case Verdict::skip: return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, escaped(value.message));
    case Verdict::fail:
    case Verdict::blocked: return body("failure");
    case Verdict::inconclusive:
    case Verdict::not_run: return body("error");
  }
  return body("error");
}

std::string suite_xml(const std::string& name, const std::vector<Case>& cases) {
  std::string body;
  std::size_t failures = 0, errors = 0, skipped = 0;
  for (const Case& value : cases) {
    failures += value.verdict == Verdict::fail || value.verdict == Verdict::blocked;
    errors += value.verdict == Verdict::inconclusive || value.verdict == Verdict::not_run;
    skipped += value.verdict == Verdict::skip;
    body += case_xml(name, value);
  }
  return fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n", escaped(name),
                     cases.size(), failures, errors, skipped, body);
}

Case node_case(const NodeResult& node, Tier tier, Verdict verdict) {
  Case out{node.name, verdict, to_string(verdict), ""};
  if (!node.required) out.name += " (optional)";
  const bool last = node.left_in == tier || node.tiers.rbegin()->first == tier;
  if (opens_gate(verdict) || !last) return out;
  for (const Finding& finding : node.findings) {
    if (!finding.primary || opens_gate(finding.verdict)) continue;
    if (out.text.empty()) out.message = finding.cause;
    out.text += finding_text(finding);
  }
  return out;
}

std::vector<Case> cluster_cases(const GateResult& result) {
  std::vector<Case> cases{{"gate", result.verdict, result.text, result.reason + "\n" + result.coverage}};
  for (const Finding& finding : result.findings)
    cases.push_back({finding.cause + " " + to_string(finding.subject), finding.verdict, finding.cause, finding_text(finding)});
  for (const Missing& missing : result.missing) cases.push_back({to_string(missing), Verdict::not_run, missing.reason, to_string(missing)});
  return cases;
}

}  // namespace

std::string to_junit(const GateResult& result, const RunIdentity& identity, const std::string& cluster) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"{}\">\n", escaped("fabricgate " + cluster + " " + identity.run));
  out += suite_xml("cluster", cluster_cases(result));
  for (const Tier tier : {Tier::stage, Tier::addons, Tier::host, Tier::link, Tier::pair, Tier::collective, Tier::soak}) {
    std::vector<Case> cases;
    for (const NodeResult& node : result.nodes) {
      const auto verdict = node.tiers.find(tier);
      if (verdict != node.tiers.end()) cases.push_back(node_case(node, tier, verdict->second));
    }
    if (!cases.empty()) out += suite_xml(to_string(tier), cases);
  }
  return out + "</testsuites>\n";
}

}  // namespace fabricgate
