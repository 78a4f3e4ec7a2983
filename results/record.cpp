#include "results/record.hpp"

#include <array>

#include "results/json_text.hpp"
#include "results/strict_json.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;
constexpr std::array<const char*, 7> tier_names{"stage", "addons", "host", "link", "pair", "collective", "soak"};

Error parse_error(const std::string& what) { return {ErrorKind::parse, "record: " + what, 0}; }

/// Absent, no number or beyond any count of repetitions: which measurement this was is unknown.
Result<int> attempt_of(const json& value) {
  constexpr int most = 100000;
  const auto found = value.find("attempt");
  const bool whole = found != value.end() && found->is_number_integer();
  if (!whole || *found < -most || *found > most) return parse_error("attempt is " + (found == value.end() ? "absent" : found->dump()) + ", expected a small whole number");
  return found->get<int>();
}

/// Takes the sample out of `in`: it is the largest part of a line.
Result<Record> from_json(json in) {
  if (whole_from<int>(in, "schema") != record_schema)
    return parse_error("schema " + std::to_string(whole_from<int>(in, "schema")) + ", this program reads " +
                       std::to_string(record_schema));
  Record r;
  r.identity = {in.at("run").get<std::string>(), in.at("inventory").get<std::string>(), in.at("build").get<std::string>(),
                in.at("suite").get<std::string>()};
  r.check = in.at("check").get<std::string>();
  auto tier = parse_tier(in.at("tier").get<std::string>());
  if (!tier) return tier.error();
  r.tier = *tier;
  r.hosts = in.at("hosts").get<std::vector<std::string>>();
  r.rail = in.value("rail", "");
  const auto attempt = attempt_of(in);
  if (!attempt) return attempt.error();
  r.attempt = *attempt;
  const auto verdict = parse_verdict(in.at("verdict").get<std::string>());
  if (!verdict) return parse_error("unknown verdict '" + in.at("verdict").get<std::string>() + "'");
  r.verdict = *verdict;
  r.reason = in.value("reason", "");
  if (!in.at("findings").is_array()) return parse_error("findings are no list");
  for (const json& value : in.at("findings")) {
    auto finding = finding_from_json(value);
    if (!finding) return finding.error().with("record");
    r.findings.push_back(*finding);
  }
  r.sample = std::move(in.at("sample"));
  r.started_unix_s = in.at("started_unix_s").get<double>();
  r.elapsed_s = in.at("elapsed_s").get<double>();
  return r;
}

constexpr std::size_t deepest_nesting = 32;  // a host.facts sample nests five deep; whoever walks a sample may recurse

}  // namespace

const char* to_string(Tier tier) { return tier_names[static_cast<std::size_t>(tier)]; }

Result<Tier> parse_tier(std::string_view text) {
  for (std::size_t i = 0; i < tier_names.size(); ++i)
    if (text == tier_names[i]) return static_cast<Tier>(i);
  return Error{ErrorKind::parse, "unknown tier '" + std::string(text) + "'", 0};
}

std::string to_line(const Record& r) {
  json findings = json::array();
  for (const Finding& finding : r.findings) findings.push_back(to_json_value(finding));
  json out{{"schema", record_schema},
           {"run", r.identity.run},
           {"inventory", r.identity.inventory},
           {"build", r.identity.build},
           {"suite", r.identity.suite},
           {"check", r.check},
           {"tier", to_string(r.tier)},
           {"hosts", r.hosts},
           {"attempt", r.attempt},
           {"verdict", to_string(r.verdict)},
           {"findings", findings},
           {"sample", r.sample},
           {"started_unix_s", r.started_unix_s},
           {"elapsed_s", r.elapsed_s}};
  if (!r.rail.empty()) out["rail"] = r.rail;
  if (!r.reason.empty()) out["reason"] = r.reason;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Record> record_from_line(std::string_view line) {
  auto value = parse_strict(line, deepest_nesting);
  if (!value) return value.error().with("record");
  try {
    return from_json(std::move(*value));
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, "record: " + plain_text(e), e.id};
  }
}

std::string subject_key(const Record& r) {
  std::string key = r.check;
  char separator = ' ';
  for (const std::string& host : r.hosts) {
    key += separator + host;
    separator = ',';
  }
  if (!r.rail.empty()) key += ' ' + r.rail;
  return key;
}

}  // namespace fabricgate
