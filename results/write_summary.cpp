#include "results/gate_result.hpp"

namespace fabricgate {
namespace {

using nlohmann::json;

json findings_json(const std::vector<Finding>& findings) {
  json out = json::array();
  for (const Finding& finding : findings) out.push_back(to_json_value(finding));
  return out;
}

json node_json(const NodeResult& node) {
  json out{{"name", node.name}, {"required", node.required}, {"verdict", to_string(node.verdict)}};
  if (node.changed) out["changed"] = true;
  if (node.lost_at_reboot) out["lost_at_reboot"] = true;
  if (node.left_in) out["left_in"] = to_string(*node.left_in);
  out["tiers"] = json::object();
  for (const auto& [tier, verdict] : node.tiers) out["tiers"][to_string(tier)] = to_string(verdict);
  out["findings"] = findings_json(node.findings);
  return out;
}

json path_json(const PathSummary& path) {
  return {{"rail", path.rail},
          {"engine", path.rdma ? "rdma" : "tcp"},
          {"pairs", path.pairs},
          {"bytes_per_s_median", path.bytes_per_s_median},
          {"bytes_per_s_min", path.bytes_per_s_min},
          {"latency_s_median", path.latency_s_median},
          {"latency_s_max", path.latency_s_max},
          {"cpu_s_per_byte_median", path.cpu_s_per_byte_median}};
}

}  // namespace

std::string to_summary(const GateResult& result, const RunIdentity& identity, const std::string& cluster) {
  json only = json::array();
  for (const Tier tier : result.only) only.push_back(to_string(tier));
  json out{{"schema", 1},
           {"cluster", cluster},
           {"run", identity.run},
           {"inventory", identity.inventory},
           {"build", identity.build},
           {"suite", identity.suite},
           {"text", result.text},
           {"only", only},
           {"verdict", to_string(result.verdict)},
           {"exit_code", static_cast<int>(result.exit_code)},
           {"reason", result.reason},
           {"coverage", result.coverage},
           {"emulated", result.emulated},
           {"records", result.records}};
  out["nodes"] = json::array();
  for (const NodeResult& node : result.nodes) out["nodes"].push_back(node_json(node));
  out["findings"] = findings_json(result.findings);
  out["missing"] = json::array();
  for (const Missing& missing : result.missing)
    out["missing"].push_back({{"check", missing.check}, {"hosts", missing.hosts}, {"rail", missing.rail}, {"reason", missing.reason}});
  out["paths"] = json::array();
  for (const PathSummary& path : result.paths) out["paths"].push_back(path_json(path));
  out["counts"] = json::object();
  for (const auto& [tier, verdicts] : result.counts)
    for (const auto& [verdict, count] : verdicts) out["counts"][to_string(tier)][to_string(verdict)] = count;
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace fabricgate
