#include "results/finding.hpp"

#include "results/cause.hpp"
#include "results/json_text.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

void put(json& out, const char* key, const std::string& value) {
  if (!value.empty()) out[key] = value;
}

void put(json& out, const char* key, int value) {
  if (value >= 0) out[key] = value;
}

json subject_json(const Subject& s) {
  json out = json::object();
  put(out, "host", s.host);
  put(out, "rank", s.rank);
  put(out, "device", s.device);
  put(out, "port", s.port);
  put(out, "netdev", s.netdev);
  put(out, "pci", s.pci);
  put(out, "module", s.module);
  put(out, "rail", s.rail);
  put(out, "peer", s.peer);
  put(out, "direction", s.direction);
  put(out, "file", s.file);
  put(out, "line", s.line);
  put(out, "pid", s.pid);
  return out;
}

Subject subject_from(const json& in) {
  Subject s;
  s.host = in.value("host", "");
  s.rank = in.value("rank", -1);
  s.device = in.value("device", "");
  s.port = in.value("port", -1);
  s.netdev = in.value("netdev", "");
  s.pci = in.value("pci", "");
  s.module = in.value("module", "");
  s.rail = in.value("rail", "");
  s.peer = in.value("peer", "");
  s.direction = in.value("direction", "");
  s.file = in.value("file", "");
  s.line = in.value("line", -1);
  s.pid = in.value("pid", -1);
  return s;
}

}  // namespace

std::string to_string(const Subject& s) {
  std::string out = s.host;
  const auto add = [&out](const std::string& part) {
    if (part.empty()) return;
    if (!out.empty()) out += ' ';
    out += part;
  };
  if (s.rank >= 0) add("rank " + std::to_string(s.rank));
  add(s.rail);
  if (!s.netdev.empty()) add(s.rail.empty() ? s.netdev : "(" + s.netdev + ")");
  add(s.device);
  if (s.port >= 0) add("port " + std::to_string(s.port));
  add(s.pci);
  add(s.module);
  add(s.direction);
  if (!s.peer.empty()) add("<-> " + s.peer);
  add(s.file);
  if (s.line >= 0) out += ":" + std::to_string(s.line);
  if (s.pid >= 0) add("pid " + std::to_string(s.pid));
  return out;
}

Finding make_finding(std::string_view cause, Subject subject, std::string expected, std::string found) {
  Finding finding;
  finding.cause = std::string(cause);
  if (const Cause* row = find_cause(cause)) finding.verdict = row->verdict;
  finding.primary = true;
  finding.subject = std::move(subject);
  finding.expected = std::move(expected);
  finding.found = std::move(found);
  return finding;
}

Verdict worst(const std::vector<Finding>& findings) {
  Verdict verdict = Verdict::pass;
  for (const Finding& finding : findings) verdict = worse(verdict, finding.verdict);
  return verdict;
}

json to_json_value(const Finding& f) {
  json out{{"cause", f.cause}, {"verdict", to_string(f.verdict)}, {"primary", f.primary}, {"subject", subject_json(f.subject)}};
  put(out, "expected", f.expected);
  put(out, "found", f.found);
  put(out, "limit", f.limit);
  if (!f.evidence.empty()) {
    out["evidence"] = json::array();
    for (const Evidence& e : f.evidence) {
      json line{{"text", e.text}};
      put(line, "line", e.line);
      out["evidence"].push_back(line);
    }
  }
  if (const Cause* row = find_cause(f.cause)) {
    out["action"] = row->action;
    out["remedy"] = row->remedy;
  }
  return out;
}

Result<Finding> finding_from_json(const json& in) {
  try {
    Finding f;
    f.cause = in.at("cause").get<std::string>();
    const auto verdict = parse_verdict(in.at("verdict").get<std::string>());
    if (!verdict) return Error{ErrorKind::parse, "finding: unknown verdict '" + in.at("verdict").get<std::string>() + "'", 0};
    f.verdict = *verdict;
    f.primary = in.at("primary").get<bool>();
    f.subject = subject_from(in.value("subject", json::object()));
    f.expected = in.value("expected", "");
    f.found = in.value("found", "");
    f.limit = in.value("limit", "");
    for (const json& e : in.value("evidence", json::array()))
      f.evidence.push_back({e.value("line", -1), e.at("text").get<std::string>()});
    return f;
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, "finding: " + plain_text(e), e.id};
  }
}

}  // namespace fabricgate
