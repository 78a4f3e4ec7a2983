#include "fabric/pairs/pair_sample.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

nlohmann::json direction_to_json(const DirectionSample& direction) {
  nlohmann::json sweep = nlohmann::json::array();
  for (const auto& point : direction.sweep) {
    sweep.push_back({{"bytes", point.bytes},
                     {"bytes_per_s", point.bytes_per_s},
                     {"messages", point.messages},
                     {"elapsed_s", point.elapsed_s}});
  }
  return {{"sweep", sweep},
          {"payload_errors", direction.payload_errors},
          {"payload_checked", direction.payload_checked},
          {"sent_bytes", direction.sent_bytes},
          {"received_bytes", direction.received_bytes},
          {"segments", direction.segments},
          {"retransmitted", direction.retransmitted},
          {"sent_cpu_s_per_byte", direction.sent_cpu_s_per_byte},
          {"received_cpu_s_per_byte", direction.received_cpu_s_per_byte},
          {"longest_gap_s", direction.longest_gap_s},
          {"first_wrong", direction.first_wrong},
          {"error", direction.error}};
}

/// Null where it was not tried.
nlohmann::json both_to_json(const PairSample& sample) {
  const auto tried = [](const DirectionSample& direction) {
    return !direction.sweep.empty() || !direction.error.empty();
  };
  if (!tried(sample.a_to_b_both) && !tried(sample.b_to_a_both)) return nullptr;
  return {{"a_to_b", direction_to_json(sample.a_to_b_both)}, {"b_to_a", direction_to_json(sample.b_to_a_both)}};
}

nlohmann::json flow_count_to_json(const FlowCount& flows) {
  return {{"dialled", flows.dialled},
          {"answered", flows.answered},
          {"late", flows.late},
          {"segment_bytes", flows.segment_bytes},
          {"first_lost", flows.first_lost},
          {"whole", flows.whole},
          {"blocked", flows.blocked},
          {"usual_s", flows.usual_s},
          {"slowest_s", flows.slowest_s},
          {"first_blocked", flows.first_blocked},
          {"error", flows.error}};
}

/// Null where they were not tried.
nlohmann::json flows_to_json(const PairSample& sample) {
  const auto tried = [](const FlowCount& flows) { return flows.dialled > 0 || !flows.error.empty(); };
  if (!tried(sample.flows_a_to_b) && !tried(sample.flows_b_to_a)) return nullptr;
  return {{"a_to_b", flow_count_to_json(sample.flows_a_to_b)}, {"b_to_a", flow_count_to_json(sample.flows_b_to_a)}};
}

FlowCount flow_count_from(const nlohmann::json& value) {
  return {.dialled = count_from(value, "dialled"),
          .answered = count_from(value, "answered"),
          .late = count_from(value, "late"),
          .segment_bytes = count_from(value, "segment_bytes"),
          .first_lost = value.at("first_lost").get<std::string>(),
          .whole = count_from(value, "whole"),
          .blocked = count_from(value, "blocked"),
          .usual_s = value.at("usual_s").get<double>(),
          .slowest_s = value.at("slowest_s").get<double>(),
          .first_blocked = value.at("first_blocked").get<std::string>(),
          .error = value.at("error").get<std::string>()};
}

DirectionSample direction_from_json(const nlohmann::json& value) {
  DirectionSample direction;
  for (const auto& point : value.at("sweep")) {
    direction.sweep.push_back({.bytes = count_from(point, "bytes"),
                               .bytes_per_s = point.at("bytes_per_s").get<double>(),
                               .messages = count_from(point, "messages"),
                               .elapsed_s = point.at("elapsed_s").get<double>()});
  }
  direction.payload_errors = count_from(value, "payload_errors");
  direction.payload_checked = count_from(value, "payload_checked");
  direction.sent_bytes = count_from(value, "sent_bytes");
  direction.received_bytes = count_from(value, "received_bytes");
  direction.segments = count_from(value, "segments");
  direction.retransmitted = count_from(value, "retransmitted");
  direction.sent_cpu_s_per_byte = value.at("sent_cpu_s_per_byte").get<double>();
  direction.received_cpu_s_per_byte = value.at("received_cpu_s_per_byte").get<double>();
  direction.longest_gap_s = value.at("longest_gap_s").get<double>();
  direction.first_wrong = value.at("first_wrong").get<std::string>();
  direction.error = value.at("error").get<std::string>();
  return direction;
}

PairSample pair_from(const nlohmann::json& value) {
  PairSample sample;
  sample.a = value.at("a").get<std::string>();
  sample.b = value.at("b").get<std::string>();
  sample.rail = value.at("rail").get<std::string>();
  sample.engine = value.at("engine").get<std::string>();
  sample.mode = parse_pair_mode(value.at("mode").get<std::string>()).value();
  sample.a_to_b = direction_from_json(value.at("a_to_b"));
  sample.b_to_a = direction_from_json(value.at("b_to_a"));
  if (const nlohmann::json& both = value.at("both"); !both.is_null()) {
    sample.a_to_b_both = direction_from_json(both.at("a_to_b"));
    sample.b_to_a_both = direction_from_json(both.at("b_to_a"));
  }
  if (const nlohmann::json& flows = value.at("flows"); !flows.is_null()) {
    sample.flows_a_to_b = flow_count_from(flows.at("a_to_b"));
    sample.flows_b_to_a = flow_count_from(flows.at("b_to_a"));
  }
  sample.latency_iterations = count_from(value, "latency_iterations");
  sample.latency_p50_s = value.at("latency_p50_s").get<double>();
  sample.latency_p99_s = value.at("latency_p99_s").get<double>();
  sample.error = value.at("error").get<std::string>();
  sample.error_host = value.at("error_host").get<std::string>();
  sample.rdma_skipped = value.at("rdma_skipped").get<std::string>();
  sample.concurrent_pairs = value.at("concurrent_pairs").get<double>();
  return sample;
}

nlohmann::json frames_to_json(const FrameCount& frames) {
  return {{"sent", frames.sent},
          {"received", frames.received},
          {"repeated", frames.repeated},
          {"dropped", frames.dropped},
          {"error", frames.error}};
}

/// Absent where no train was sent.
FrameCount frames_from(const nlohmann::json& answer, const char* key) {
  if (!answer.contains(key)) return {};
  const nlohmann::json& value = answer.at(key);
  return {.sent = count_from(value, "sent"),
          .received = count_from(value, "received"),
          .repeated = count_from(value, "repeated"),
          .dropped = count_from(value, "dropped"),
          .error = value.at("error").get<std::string>()};
}

void add_frames(nlohmann::json& answer, const char* key, const FrameCount& frames) {
  if (frames.sent > 0 || !frames.error.empty()) answer[key] = frames_to_json(frames);
}

nlohmann::json next_hop_to_json(const NextHop& hop) {
  return {{"netdev", hop.netdev}, {"gateway", hop.gateway}, {"mac", hop.mac}, {"error", hop.error}};
}

/// Absent where it was not looked at.
NextHop next_hop_from(const nlohmann::json& answer) {
  if (!answer.contains("next_hop")) return {};
  const nlohmann::json& value = answer.at("next_hop");
  return {.netdev = value.at("netdev").get<std::string>(),
          .gateway = value.at("gateway").get<std::string>(),
          .mac = value.at("mac").get<std::string>(),
          .error = value.at("error").get<std::string>()};
}

ReachAnswer answer_from(const nlohmann::json& value) {
  return {.from = value.at("from").get<std::string>(),
          .from_rail = value.at("from_rail").get<std::string>(),
          .to = value.at("to").get<std::string>(),
          .to_rail = value.at("to_rail").get<std::string>(),
          .macs = value.at("macs").get<std::vector<std::string>>(),
          .error = value.at("error").get<std::string>(),
          .echo = value.at("echo").get<bool>(),
          .full_mtu = value.at("full_mtu").get<bool>(),
          .mtu_error = value.at("mtu_error").get<std::string>(),
          .next_hop = next_hop_from(value),
          .frames = frames_from(value, "frames"),
          .frames_alone = frames_from(value, "frames_alone")};
}

/// Asked between two different rails and nobody answered, as it should be. With eight rails that is 112 of a pair's 128
/// questions, so these are written as one row per asking rail.
bool is_silent(const ReachSample& sample, const ReachAnswer& answer) {
  return answer.from_rail != answer.to_rail && answer.to == (answer.from == sample.a ? sample.b : sample.a) && answer.macs.empty() &&
         answer.error.empty() && !answer.echo && !answer.full_mtu && answer.mtu_error.empty() && answer.frames == FrameCount{} &&
         answer.frames_alone == FrameCount{};
}

void add_silent(const nlohmann::json& row, ReachSample& sample) {
  ReachAnswer answer{.from = row.at("from").get<std::string>(), .from_rail = row.at("from_rail").get<std::string>()};
  answer.to = answer.from == sample.a ? sample.b : sample.a;
  for (const auto& rail : row.at("to_rails")) {
    answer.to_rail = rail.get<std::string>();
    sample.answers.push_back(answer);
  }
}

}  // namespace

const char* to_string(PairMode mode) {
  switch (mode) {
    case PairMode::together:
      return "together";
    case PairMode::alone:
      return "alone";
    case PairMode::partner:
      return "partner";
  }
  return "together";
}

Result<PairMode> parse_pair_mode(std::string_view text) {
  for (const auto mode : {PairMode::together, PairMode::alone, PairMode::partner}) {
    if (text == to_string(mode)) return mode;
  }
  return Error{ErrorKind::parse, fmt::format("pair mode '{}': expected together, alone or partner", text)};
}

nlohmann::json to_json_value(const PairSample& sample) {
  return {{"a", sample.a},
          {"b", sample.b},
          {"rail", sample.rail},
          {"engine", sample.engine},
          {"mode", to_string(sample.mode)},
          {"a_to_b", direction_to_json(sample.a_to_b)},
          {"b_to_a", direction_to_json(sample.b_to_a)},
          {"both", both_to_json(sample)},
          {"flows", flows_to_json(sample)},
          {"latency_iterations", sample.latency_iterations},
          {"latency_p50_s", sample.latency_p50_s},
          {"latency_p99_s", sample.latency_p99_s},
          {"error", sample.error},
          {"error_host", sample.error_host},
          {"rdma_skipped", sample.rdma_skipped},
          {"concurrent_pairs", sample.concurrent_pairs}};
}

Result<PairSample> pair_sample_from_json(const nlohmann::json& value) {
  try {
    if (auto mode = parse_pair_mode(value.at("mode").get<std::string>()); !mode)
      return mode.error().with("pair sample");
    return pair_from(value);
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("pair sample: {}", plain_text(problem))};
  }
}

nlohmann::json to_json_value(const ReachSample& sample) {
  nlohmann::json answers = nlohmann::json::array();
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> silent;
  for (const auto& answer : sample.answers) {
    if (is_silent(sample, answer)) {
      silent[{answer.from, answer.from_rail}].push_back(answer.to_rail);
      continue;
    }
    answers.push_back({{"from", answer.from},
                       {"from_rail", answer.from_rail},
                       {"to", answer.to},
                       {"to_rail", answer.to_rail},
                       {"macs", answer.macs},
                       {"error", answer.error},
                       {"echo", answer.echo},
                       {"full_mtu", answer.full_mtu},
                       {"mtu_error", answer.mtu_error}});
    if (answer.from_rail == answer.to_rail) answers.back()["next_hop"] = next_hop_to_json(answer.next_hop);
    add_frames(answers.back(), "frames", answer.frames);
    add_frames(answers.back(), "frames_alone", answer.frames_alone);
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [asker, rails] : silent) rows.push_back({{"from", asker.first}, {"from_rail", asker.second}, {"to_rails", rails}});
  return {{"a", sample.a}, {"b", sample.b}, {"answers", answers}, {"silent", rows}};
}

Result<ReachSample> reach_sample_from_json(const nlohmann::json& value) {
  try {
    ReachSample sample{.a = value.at("a").get<std::string>(), .b = value.at("b").get<std::string>()};
    for (const auto& answer : value.at("answers")) sample.answers.push_back(answer_from(answer));
    for (const auto& row : value.at("silent")) add_silent(row, sample);
    return sample;
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("reach sample: {}", plain_text(problem))};
  }
}

}  // namespace fabricgate::fabric
