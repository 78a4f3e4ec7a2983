#include "bootstrap/agent/protocol.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "results/file.hpp"
#include "results/json_text.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 5> op_names{"facts", "plan", "apply", "plan_undo", "undo"};
constexpr std::array<const char*, 5> state_names{"unchanged", "planned", "applied", "failed", "blocked"};
constexpr std::string_view request_prefix = "FABRICGATE-REQUEST ";
constexpr std::size_t request_limit = std::size_t{16} << 20;

Error parse_error(const std::string& what) {
  return {ErrorKind::parse, what, 0};
}

std::string begin_marker(std::string_view nonce) {
  return "-----BEGIN FABRICGATE " + std::string(nonce) + "-----";
}
std::string end_marker(std::string_view nonce) {
  return "-----END FABRICGATE " + std::string(nonce) + " ";
}

template <std::size_t n>
std::optional<std::size_t> index_of(const std::array<const char*, n>& names, const std::string& text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

bool valid_nonce(std::string_view nonce) {
  return !nonce.empty() && nonce.size() <= 64 && nonce.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status check_schema(const json& value) {
  const int schema = whole_from<int>(value, "schema");
  if (schema == protocol_schema) return {};
  return parse_error("schema " + std::to_string(schema) + ", this program speaks " + std::to_string(protocol_schema) +
                     ": head and agent are of different builds, stage again");
}

FactsRequest facts_request_from(const json& value) {
  return {value.value("sysctl_keys", std::vector<std::string>{}),
          value.value("free_space_paths", std::vector<std::string>{}),
          value.value("version_prefixes", std::vector<std::string>{})};
}

Result<AgentRequest> read_request(const json& in) {
  if (auto status = check_schema(in); !status) return status.error();
  AgentRequest out;
  out.nonce = in.at("nonce").get<std::string>();
  if (!valid_nonce(out.nonce)) return parse_error("nonce: expected 1 to 64 lower-case hexadecimal digits");
  const auto op = index_of(op_names, in.at("op").get<std::string>());
  if (!op) return parse_error("op: expected facts, plan, apply, plan_undo or undo, found '" + in.at("op").get<std::string>() + "'");
  out.op = static_cast<AgentOp>(*op);
  out.desired = in.value("desired", json());
  if (out.op != AgentOp::facts && !out.desired.is_object())
    return parse_error("desired: an object is needed for " + std::string(to_string(out.op)));
  out.facts_request = facts_request_from(in.value("facts_request", json::object()));
  out.run = in.value("run", "");
  if (in.contains("occupant")) {
    auto occupant = occupant_from_json(in["occupant"]);
    if (!occupant) return occupant.error();
    out.occupant = std::move(*occupant);
  }
  out.ended_run = in.value("ended_run", "");
  out.journal = in.value("journal", "");
  out.only_steps = in.value("only_steps", std::vector<std::string>{});
  out.allow_busy = in.value("allow_busy", false);
  out.deadline_s = in.value("deadline_s", out.deadline_s);
  out.watched = in.value("watched", false);
  if (!(out.deadline_s > 0 && out.deadline_s <= 86400))
    return parse_error("deadline_s: expected a number above 0, at most 86400");
  return out;
}

json step_to_json(const StepReport& step) {
  json findings = json::array();
  for (const Finding& finding : step.findings) findings.push_back(fabricgate::to_json_value(finding));
  return {{"id", step.id},
          {"state", to_string(step.state)},
          {"commands", step.commands},
          {"findings", findings},
          {"error", step.error},
          {"kept", step.kept}};
}

Result<StepReport> step_from_json(const json& in) {
  StepReport out;
  out.id = in.at("id").get<std::string>();
  const auto state = index_of(state_names, in.at("state").get<std::string>());
  if (!state) return parse_error("step " + out.id + ": unknown state '" + in.at("state").get<std::string>() + "'");
  out.state = static_cast<StepState>(*state);
  out.commands = in.at("commands").get<std::vector<std::string>>();
  out.error = in.at("error").get<std::string>();
  out.kept = in.at("kept").get<bool>();
  for (const json& value : in.at("findings")) {
    auto finding = finding_from_json(value);
    if (!finding) return finding.error().with("step " + out.id);
    out.findings.push_back(*finding);
  }
  return out;
}

Result<AgentAnswer> read_answer(const json& in) {
  if (auto status = check_schema(in); !status) return status.error();
  AgentAnswer out;
  if (in.contains("facts") && !in["facts"].is_null()) {
    auto facts = facts_from_json(in["facts"]);
    if (!facts) return facts.error();
    out.facts = *facts;
  }
  if (in.contains("in_use") && !in["in_use"].is_null()) {
    auto holder = holder_from_json(in["in_use"]);
    if (!holder) return holder.error();
    out.in_use = std::move(*holder);
  }
  for (const json& value : in.at("steps")) {
    auto step = step_from_json(value);
    if (!step) return step.error();
    out.steps.push_back(*step);
  }
  out.error = in.at("error").get<std::string>();
  return out;
}

}  // namespace

const char* to_string(AgentOp op) {
  return op_names[static_cast<std::size_t>(op)];
}
const char* to_string(StepState state) {
  return state_names[static_cast<std::size_t>(state)];
}

json to_json_value(const AgentRequest& r) {
  return {{"schema", protocol_schema},
          {"nonce", r.nonce},
          {"op", to_string(r.op)},
          {"desired", r.desired},
          {"facts_request",
           {{"sysctl_keys", r.facts_request.sysctl_keys},
            {"free_space_paths", r.facts_request.free_space_paths},
            {"version_prefixes", r.facts_request.version_prefixes}}},
          {"run", r.run},
          {"occupant", fabricgate::to_json_value(r.occupant)},
          {"ended_run", r.ended_run},
          {"journal", r.journal},
          {"only_steps", r.only_steps},
          {"allow_busy", r.allow_busy},
          {"deadline_s", r.deadline_s},
          {"watched", r.watched}};
}

Result<AgentRequest> request_from_json(const json& value) {
  try {
    auto request = read_request(value);
    if (!request) return request.error().with("agent request");
    return request;
  } catch (const json::exception& e) {
    return parse_error(std::string("agent request: ") + e.what());
  }
}

json to_json_value(const AgentAnswer& answer) {
  json steps = json::array();
  for (const StepReport& step : answer.steps) steps.push_back(step_to_json(step));
  return {{"schema", protocol_schema},
          {"facts", answer.facts ? fabricgate::to_json_value(*answer.facts) : json()},
          {"steps", steps},
          {"in_use", answer.in_use ? fabricgate::to_json_value(*answer.in_use) : json()},
          {"error", answer.error}};
}

Result<AgentAnswer> answer_from_json(const json& value) {
  try {
    auto answer = read_answer(value);
    if (!answer) return answer.error().with("agent answer");
    return answer;
  } catch (const json::exception& e) {
    return parse_error(std::string("agent answer: ") + e.what());
  }
}

std::string frame_request(const AgentRequest& request) {
  const std::string body = dump(to_json_value(request));
  return std::string(request_prefix) + std::to_string(body.size()) + "\n" + body;
}

Result<std::optional<std::string>> request_body(std::string_view text, bool end_of_input) {
  const std::size_t compared = std::min(text.size(), request_prefix.size());
  const bool framed = text.substr(0, compared) == request_prefix.substr(0, compared) && !text.empty();
  if (text.size() > request_limit) return parse_error("agent request: longer than 16 MiB");
  if (!framed) return end_of_input ? std::optional<std::string>(text) : std::nullopt;
  const std::size_t line_end = text.substr(0, request_prefix.size() + 24).find('\n');
  if (line_end == std::string_view::npos) {
    if (end_of_input || text.size() > request_prefix.size() + 24)
      return parse_error("agent request: length line without an end");
    return std::optional<std::string>();
  }
  const std::string_view digits = text.substr(request_prefix.size(), line_end - request_prefix.size());
  std::size_t length = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (code != std::errc() || end != digits.data() + digits.size() || length > request_limit)
    return parse_error("agent request: bad length '" + std::string(digits) + "'");
  if (text.size() - line_end - 1 >= length) return std::optional<std::string>(text.substr(line_end + 1, length));
  if (!end_of_input) return std::optional<std::string>();
  return parse_error("agent request: " + std::to_string(length) + " bytes announced, input ended after " +
                     std::to_string(text.size() - line_end - 1));
}

Result<AgentRequest> parse_request(std::string_view body) {
  try {
    return request_from_json(json::parse(body));
  } catch (const json::exception& e) {
    return parse_error(std::string("agent request: ") + e.what());
  }
}

std::string frame_answer(const AgentAnswer& answer, const std::string& nonce) {
  const std::string body = dump(to_json_value(answer));
  // the line end before the begin marker keeps it at the start of a line whatever a banner left there
  return "\n" + begin_marker(nonce) + "\n" + body + "\n" + end_marker(nonce) + sha256_hex(body) + "-----\n";
}

Result<json> extract_answer(std::string_view text, std::string_view nonce) {
  const std::string begin = begin_marker(nonce), end = end_marker(nonce);
  const std::size_t start = text.find(begin);
  if (start == std::string_view::npos)
    return parse_error("agent answer: no begin marker in " + std::to_string(text.size()) +
                       " bytes of output; the agent did not run or was stopped before it answered");
  std::string_view rest = text.substr(start + begin.size());
  if (!rest.empty() && rest.front() == '\r') rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '\n') rest.remove_prefix(1);
  const std::size_t line_end = rest.find('\n');
  const std::size_t marker = line_end == std::string_view::npos ? line_end : rest.find(end, line_end);
  if (marker == std::string_view::npos) return parse_error("agent answer: no end marker, the output is truncated");
  std::string_view body = rest.substr(0, line_end);
  if (!body.empty() && body.back() == '\r') body.remove_suffix(1);
  const std::string_view checksum = rest.substr(marker + end.size(), 64);
  if (rest.substr(marker + end.size() + checksum.size(), 5) != "-----")
    return parse_error("agent answer: end marker is cut off, the output is truncated");
  if (checksum != sha256_hex(body))
    return parse_error("agent answer: checksum of the answer differs, it was altered on the way");
  try {
    return json::parse(body);
  } catch (const json::exception& e) {
    return parse_error(std::string("agent answer: ") + e.what());
  }
}

}  // namespace fabricgate::bootstrap
