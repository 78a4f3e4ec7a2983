#include "suites/limits.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "results/file.hpp"
#include "suites/embedded.hpp"
#include "suites/strict_yaml.hpp"

namespace fabricgate::suites {
namespace {

std::set<std::string> metric_names() {
  std::set<std::string> names;
  for (const auto& [metric, unit] : known_metrics()) names.insert(metric);
  return names;
}

/// Beyond it no such quantity is a demand, and arithmetic with it would not be defined.
double highest(const std::string& unit) {
  static const std::map<std::string, double> bounds{{"1", 10}, {"s", 1e6}, {"count", 1e9}, {"1/s", 1e12}};
  return bounds.at(unit);
}

double read_bound(const StrictMap& map, const std::string& metric, const char* key) {
  const double value = map.number(key), most = highest(known_metrics().at(metric));
  if (value < 0 || value > most)
    throw YamlProblem{map.at(key).Mark(), fmt::format("limit {}: {} must be from 0 to {:g} {}, found {:g}", metric, key,
                                                      most, known_metrics().at(metric), value)};
  return value;
}

Limit read_limit(const std::string& metric, const YAML::Node& node) {
  const StrictMap map(node, "limit " + metric, {"low", "high", "unit", "source"});
  Limit limit;
  limit.unit = map.text("unit");
  limit.source = map.text("source");
  const std::string& expected = known_metrics().at(metric);
  if (limit.unit != expected)
    throw YamlProblem{map.at("unit").Mark(), "limit " + metric + ": unit is '" + limit.unit + "', the metric is in '" + expected + "'"};
  if (map.has("low")) limit.low = read_bound(map, metric, "low");
  if (map.has("high")) limit.high = read_bound(map, metric, "high");
  if (!limit.low && !limit.high) throw YamlProblem{map.mark(), "limit " + metric + " has neither low nor high"};
  if (limit.low && limit.high && *limit.low > *limit.high)
    throw YamlProblem{map.mark(), "limit " + metric + ": low is above high, so nothing could pass"};
  return limit;
}

}  // namespace

const Limit* Limits::find(const std::string& metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? nullptr : &found->second;
}

const std::map<std::string, std::string>& known_metrics() {
  static const std::map<std::string, std::string> metrics{
      {"clock.offset", "s"},          {"link.speed_share", "1"},         {"link.carrier_changes", "count"},
      {"link.error_rate", "1/s"},     {"link.symbol_error_rate", "1/s"}, {"link.port_rcv_error_rate", "1/s"},
      {"link.fatal_errors", "count"}, {"pair.bandwidth_share", "1"},     {"pair.both_share", "1"},
      {"pair.retransmit_share", "1"}, {"pair.frame_loss", "1"},          {"pair.frame_train", "count"},
      {"pair.latency", "s"},          {"pair.latency_tcp", "s"},         {"pair.window", "s"},
      {"pair.overlay_latency", "s"},  {"pair.latency_tail", "s"},        {"collective.busbw_share", "1"},
      {"link.recovery_rate", "1/s"},  {"link.ack_timeout_rate", "1/s"},  {"link.symbol_errors_per_hour", "1/s"},
      {"link.drop_rate", "1/s"},      {"link.discard_rate", "1/s"},   {"link.slow_restart_rate", "1/s"},
      {"link.traffic_share", "1"},    {"overlay.rate_share", "1"},       {"pair.late_share", "1"},
      {"pair.burst_ratio", "1"},      {"pair.burst_time", "s"},          {"pair.longest_gap", "s"},
      {"pair.rdma_share", "1"},
  };
  return metrics;
}

Result<Limits> parse_limits(const std::string& text, const std::string& name, const std::string& platform) {
  Limits limits;
  limits.checksum = sha256_hex(text);
  const Status status = read_yaml(text, name, [&](const YAML::Node& root) {
    const StrictMap file(root, "the limits file", {});
    if (file.count("schema") != 1) throw YamlProblem{file.at("schema").Mark(), "schema: this program reads 1"};
    file.at("default");
    const auto read_section = [&](const std::string& section, const YAML::Node& node, bool used) {
      const StrictMap map(node, "section " + section, metric_names());
      for (const auto& [metric, value] : map.entries()) {
        Limit limit = read_limit(metric, value);
        if (used) limits.metrics[metric] = std::move(limit);
      }
    };
    read_section("default", file.at("default"), true);
    for (const auto& [section, value] : file.entries())
      if (section != "default" && section != "schema") read_section(section, value, section == platform);
    if (limits.metrics.empty()) throw YamlProblem{file.mark(), "the file holds no limits: nothing could be judged"};
  });
  if (!status) return status.error();
  return limits;
}

std::string platform_of(const Inventory& inventory) {
  if (inventory.emulated()) return "emulated";
  std::set<std::string> classes;
  for (const Node& node : inventory.nodes)
    if (node.spec) classes.insert(node.spec->name);
  return classes.size() == 1 ? *classes.begin() : "default";
}

const std::string& default_limits_text() {
  static const std::string text = embedded_limits();
  return text;
}

}  // namespace fabricgate::suites
