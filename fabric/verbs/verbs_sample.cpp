#include "fabric/verbs/verbs_sample.hpp"

#include <fmt/format.h>

#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

constexpr Operation operations[] = {Operation::write, Operation::write_imm, Operation::read, Operation::send};

Operation operation_from(const nlohmann::json& value) {
  const auto text = value.at("operation").get<std::string>();
  for (const auto operation : operations)
    if (text == to_string(operation)) return operation;
  throw nlohmann::json::type_error::create(302, "operation '" + text + "' is not known", &value);
}

nlohmann::json rate_to_json(const VerbsRate& rate) {
  return {{"operation", to_string(rate.operation)},
          {"bytes", rate.bytes},
          {"qps", rate.qps},
          {"both", rate.both},
          {"a_to_b", to_json_value(rate.a_to_b)},
          {"b_to_a", to_json_value(rate.b_to_a)}};
}

VerbsRate rate_from(const nlohmann::json& value) {
  return {.operation = operation_from(value),
          .bytes = count_from(value, "bytes"),
          .qps = count_from(value, "qps"),
          .both = value.at("both").get<bool>(),
          .a_to_b = verbs_flow_from(value.at("a_to_b")),
          .b_to_a = verbs_flow_from(value.at("b_to_a"))};
}

}  // namespace

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::write:
      return "write";
    case Operation::write_imm:
      return "write_imm";
    case Operation::read:
      return "read";
    case Operation::send:
      return "send";
  }
  return "write";
}

Result<Operation> parse_operation(std::string_view text) {
  for (const auto operation : operations)
    if (text == to_string(operation)) return operation;
  return Error{ErrorKind::parse, fmt::format("operation '{}': expected write, write_imm, read or send", text)};
}

nlohmann::json to_json_value(const VerbsEnd& end) {
  return {{"device", end.device},       {"port", end.port}, {"link_layer", end.link_layer},
          {"gid_index", end.gid_index}, {"gid", end.gid},   {"mtu_bytes", end.mtu_bytes},
          {"memory", end.memory}};
}

VerbsEnd verbs_end_from(const nlohmann::json& value) {
  return {.device = value.at("device").get<std::string>(),
          .port = whole_from<int>(value, "port"),
          .link_layer = value.at("link_layer").get<std::string>(),
          .gid_index = whole_from<int>(value, "gid_index"),
          .gid = value.at("gid").get<std::string>(),
          .mtu_bytes = count_from(value, "mtu_bytes"),
          .memory = value.at("memory").get<std::string>()};
}

nlohmann::json to_json_value(const VerbsFlow& flow) {
  return {{"bytes_per_s", flow.bytes_per_s},
          {"messages", flow.messages},
          {"elapsed_s", flow.elapsed_s},
          {"cpu_s", flow.cpu_s},
          {"payload_checked", flow.payload_checked},
          {"payload_errors", flow.payload_errors},
          {"first_wrong", flow.first_wrong}};
}

VerbsFlow verbs_flow_from(const nlohmann::json& value) {
  return {.bytes_per_s = value.at("bytes_per_s").get<double>(),
          .messages = count_from(value, "messages"),
          .elapsed_s = value.at("elapsed_s").get<double>(),
          .cpu_s = value.at("cpu_s").get<double>(),
          .payload_checked = count_from(value, "payload_checked"),
          .payload_errors = count_from(value, "payload_errors"),
          .first_wrong = value.at("first_wrong").get<std::string>()};
}

nlohmann::json to_json_value(const VerbsLatency& latency) {
  return {{"operation", to_string(latency.operation)},
          {"bytes", latency.bytes},
          {"iterations", latency.iterations},
          {"min_s", latency.min_s},
          {"mean_s", latency.mean_s},
          {"p50_s", latency.p50_s},
          {"p90_s", latency.p90_s},
          {"p99_s", latency.p99_s},
          {"p999_s", latency.p999_s},
          {"max_s", latency.max_s}};
}

VerbsLatency verbs_latency_from(const nlohmann::json& value) {
  return {.operation = operation_from(value),
          .bytes = count_from(value, "bytes"),
          .iterations = count_from(value, "iterations"),
          .min_s = value.at("min_s").get<double>(),
          .mean_s = value.at("mean_s").get<double>(),
          .p50_s = value.at("p50_s").get<double>(),
          .p90_s = value.at("p90_s").get<double>(),
          .p99_s = value.at("p99_s").get<double>(),
          .p999_s = value.at("p999_s").get<double>(),
          .max_s = value.at("max_s").get<double>()};
}

nlohmann::json to_json_value(const VerbsFailure& failure) {
  return {{"host", failure.host},     {"cause", failure.cause},   {"what", failure.what},    {"step", failure.step},
          {"native", failure.native}, {"vendor", failure.vendor}, {"echoes", failure.echoes}};
}

VerbsFailure verbs_failure_from(const nlohmann::json& value) {
  return {.host = value.at("host").get<std::string>(),
          .cause = value.at("cause").get<std::string>(),
          .what = value.at("what").get<std::string>(),
          .step = value.at("step").get<std::string>(),
          .native = whole_from<int>(value, "native"),
          .vendor = count_from(value, "vendor"),
          .echoes = count_from(value, "echoes")};
}

nlohmann::json to_json_value(const VerbsSample& sample) {
  nlohmann::json rates = nlohmann::json::array(), latencies = nlohmann::json::array();
  for (const auto& rate : sample.rates) rates.push_back(rate_to_json(rate));
  for (const auto& latency : sample.latencies) latencies.push_back(to_json_value(latency));
  return {{"a", sample.a},
          {"b", sample.b},
          {"rail", sample.rail},
          {"mode", to_string(sample.mode)},
          {"concurrent_pairs", sample.concurrent_pairs},
          {"a_end", to_json_value(sample.a_end)},
          {"b_end", to_json_value(sample.b_end)},
          {"path_mtu_bytes", sample.path_mtu_bytes},
          {"rates", rates},
          {"latencies", latencies},
          {"failure", to_json_value(sample.failure)}};
}

Result<VerbsSample> verbs_sample_from_json(const nlohmann::json& value) {
  try {
    const auto mode = parse_pair_mode(value.at("mode").get<std::string>());
    if (!mode) return mode.error().with("verbs sample");
    VerbsSample sample{.a = value.at("a").get<std::string>(),
                       .b = value.at("b").get<std::string>(),
                       .rail = value.at("rail").get<std::string>(),
                       .mode = *mode,
                       .concurrent_pairs = value.at("concurrent_pairs").get<double>(),
                       .a_end = verbs_end_from(value.at("a_end")),
                       .b_end = verbs_end_from(value.at("b_end")),
                       .path_mtu_bytes = count_from(value, "path_mtu_bytes")};
    for (const auto& rate : value.at("rates")) sample.rates.push_back(rate_from(rate));
    for (const auto& latency : value.at("latencies")) sample.latencies.push_back(verbs_latency_from(latency));
    sample.failure = verbs_failure_from(value.at("failure"));
    return sample;
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("verbs sample: {}", plain_text(problem))};
  }
}

}  // namespace fabricgate::fabric
