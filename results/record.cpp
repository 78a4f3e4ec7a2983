#include "results/record.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "results/json_text.hpp"

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

constexpr int deepest_nesting = 32;  // a host.facts sample nests five deep; whoever walks a sample may recurse

/// What a pass over the text tells that the parsed value does not. The text must be JSON, all of it.
struct Written {
  std::size_t keys = 0;  // every colon outside of a string follows one
  int nesting = 0;
};

Written written(std::string_view text) {
  Written out;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') ++out.keys;
    if (c == '{' || c == '[') out.nesting = std::max(out.nesting, ++open);
    if (c == '}' || c == ']') --open;
    if (c != '"') continue;
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
  }
  return out;
}

std::size_t keys_kept(const json& value) {
  if (!value.is_structured()) return 0;
  std::size_t keys = value.is_object() ? value.size() : 0;
  for (const json& inner : value) keys += keys_kept(inner);
  return keys;
}

/// The first key that one object holds twice: the parser keeps the last value in silence.
std::string key_twice(std::string_view text) {
  std::vector<std::unordered_set<std::string>> open;  // keys of each object not ended yet
  std::string twice;
  const auto note = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get_ref<const std::string&>()).second && twice.empty())
      twice = parsed.get<std::string>();
    return true;
  };
  const json again = json::parse(text, note);
  return twice;
}

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
  try {
    if (line.find('\0') != std::string_view::npos) return parse_error("a NUL byte, which the parser takes for the end");
    json value = json::parse(line);
    const Written text = written(line);
    if (text.nesting > deepest_nesting)
      return parse_error("nested " + std::to_string(text.nesting) + " deep, at most " + std::to_string(deepest_nesting));
    if (text.keys != keys_kept(value))
      return parse_error("key '" + key_twice(line) + "' is twice in one object, so its value is unknown");
    return from_json(std::move(value));
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
