#pragma once
/// What the head and the agent on a node say to each other: one JSON request on the agent's standard input, one JSON
/// answer on its standard output between marker lines, so that banners and shell noise do not matter and truncation is
/// seen.
///
///   request:  "FABRICGATE-REQUEST <bytes>\n" and that many bytes of JSON; or bare JSON up to the end of the input
///   answer:   -----BEGIN FABRICGATE <nonce>-----
///             <one line of JSON>
///             -----END FABRICGATE <nonce> <sha256 of the JSON line without its line end>-----
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/host/claim.hpp"
#include "inventory/observe/facts.hpp"
#include "results/finding.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

inline constexpr int protocol_schema = 1;

/// undo takes away what apply has left on the node, plan_undo says what that would be.
enum class AgentOp { facts, plan, apply, plan_undo, undo };
inline bool changes_node(AgentOp op) { return op == AgentOp::apply || op == AgentOp::undo; }
inline bool undoes(AgentOp op) { return op == AgentOp::plan_undo || op == AgentOp::undo; }

struct AgentRequest {
  std::string nonce;  ///< 1 to 64 lower-case hexadecimal digits, fresh for each request
  AgentOp op = AgentOp::facts;
  nlohmann::json desired;               ///< to_json_value(Desired); null allowed for facts
  FactsRequest facts_request;           ///< facts are part of every answer
  std::string run;                      ///< id of the run, for the journal
  Occupant occupant;                    ///< apply and undo take the node for it
  std::string ended_run;                ///< known to have ended: its lease of the node does not count
  std::string journal;                  ///< path on the node, may be empty: no journal
  std::vector<std::string> only_steps;  ///< ids; empty: all
  bool allow_busy = false;              ///< change it although the node is in use
  double deadline_s = 60;               ///< for the whole request
  bool watched = false;                 ///< the head keeps the input open; its end means: begin no further step
};

/// unchanged: nothing to do; planned: would change; applied: changed and verified; failed, blocked: see
/// findings, error.
enum class StepState { unchanged, planned, applied, failed, blocked };

struct StepReport {
  std::string id;
  StepState state = StepState::failed;
  std::vector<std::string> commands;  ///< what a person would type
  std::vector<Finding> findings;
  std::string error;  ///< empty unless failed or blocked
  bool kept = true;   ///< as StepPlan::kept
};

struct AgentAnswer {
  std::optional<Facts> facts;
  std::vector<StepReport> steps;  ///< empty for facts
  std::optional<Holder> in_use;   ///< another run has the node: nothing was done
  std::string error;              ///< set when the request as a whole could not be served
};

const char* to_string(AgentOp op);
const char* to_string(StepState state);

nlohmann::json to_json_value(const AgentRequest& request);
Result<AgentRequest> request_from_json(const nlohmann::json& value);
nlohmann::json to_json_value(const AgentAnswer& answer);
Result<AgentAnswer> answer_from_json(const nlohmann::json& value);

/// Length-prefixed, ready for the agent's standard input; the channel may stay open behind it.
std::string frame_request(const AgentRequest& request);
/// Bytes of `text` that form a whole request: nullopt while more must be read, an error when it never can be one. Bare
/// JSON is whole only at the end of the input.
Result<std::optional<std::string>> request_body(std::string_view text, bool end_of_input);
Result<AgentRequest> parse_request(std::string_view body);

std::string frame_answer(const AgentAnswer& answer, const std::string& nonce);
/// The JSON between the markers of `nonce`, wherever in `text`. Errors (kind parse): no begin marker, no end marker
/// (truncated), checksum differs, not JSON.
Result<nlohmann::json> extract_answer(std::string_view text, std::string_view nonce);

}  // namespace fabricgate::bootstrap
