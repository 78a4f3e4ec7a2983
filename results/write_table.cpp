#include <fmt/format.h>

#include <algorithm>

#include "results/cause.hpp"
#include "results/gate_result.hpp"
#include "results/host_range.hpp"

namespace fabricgate {
namespace {

constexpr std::size_t hosts_width = 40;

std::string rate(double bytes_per_s) {
  const double bits = bytes_per_s * 8;
  return bits >= 1e9 ? fmt::format("{:.2f} Gb/s", bits / 1e9) : fmt::format("{:.1f} Mb/s", bits / 1e6);
}

std::string microseconds(double seconds) { return fmt::format("{:.1f} us", seconds * 1e6); }

/// Nodes with the same verdicts in every tier, in one row.
std::string node_rows(const GateResult& result) {
  std::map<std::pair<std::string, std::map<Tier, Verdict>>, std::vector<std::string>> rows;
  std::vector<decltype(rows)::key_type> order;
  for (const NodeResult& node : result.nodes) {
    const std::string verdict = std::string(to_string(node.verdict)) + (node.required ? "" : " (optional)");
    auto& names = rows[{verdict, node.tiers}];
    if (names.empty()) order.push_back({verdict, node.tiers});
    names.push_back(node.name);
  }
  std::string out = "nodes\n";
  for (const auto& key : order) {
    std::string tiers;
    for (const auto& [tier, verdict] : key.second) tiers += fmt::format("  {} {}", to_string(tier), to_string(verdict));
    out += fmt::format("  {:<{}} {:<14}{}\n", fold_hosts(rows[key]), hosts_width, key.first, tiers);
  }
  return out;
}

std::string tier_rows(const GateResult& result) {
  std::string out = "records\n";
  for (const auto& [tier, verdicts] : result.counts) {
    out += fmt::format("  {:<12}", to_string(tier));
    for (const auto& [verdict, count] : verdicts) out += fmt::format(" {} {}", count, to_string(verdict));
    out += "\n";
  }
  return out;
}

std::string path_rows(const GateResult& result) {
  if (result.paths.empty()) return "";
  constexpr const char* row = "  {:<16}{:>8}{:>16}{:>16}{:>14}{:>14}{:>12}\n";
  std::string out = "paths\n" + fmt::format(row, "", "pairs", "median", "slowest", "latency", "worst", "cpu s/GB");
  for (const PathSummary& path : result.paths) {
    const std::string name = path.rail.empty() ? "overlay" : path.rail + (path.rdma ? " rdma" : "");
    const std::string cost = path.cpu_s_per_byte_median > 0 ? fmt::format("{:.3g}", path.cpu_s_per_byte_median * 1e9) : "-";
    out += fmt::format(row, name, path.pairs, rate(path.bytes_per_s_median), rate(path.bytes_per_s_min), microseconds(path.latency_s_median),
                       microseconds(path.latency_s_max), cost);
  }
  return out;
}

/// The same finding of several nodes in one block.
std::string finding_rows(const std::vector<Finding>& findings) {
  struct Block {
    const Finding* first;
    std::vector<std::string> hosts;
  };
  std::vector<Block> blocks;
  for (const Finding& finding : findings) {
    const auto same = [&](const Block& block) {
      Subject a = block.first->subject, b = finding.subject;
      a.host = b.host = "";
      return block.first->cause == finding.cause && block.first->expected == finding.expected && block.first->found == finding.found && a == b &&
             !finding.subject.host.empty();
    };
    const auto block = std::find_if(blocks.begin(), blocks.end(), same);
    if (block == blocks.end()) {
      blocks.push_back({&finding, {finding.subject.host}});
    } else {
      block->hosts.push_back(finding.subject.host);
    }
  }
  std::string out;
  for (const Block& block : blocks) {
    Subject subject = block.first->subject;
    if (block.hosts.size() > 1) subject.host = fold_hosts(block.hosts);
    const Cause* cause = find_cause(block.first->cause);
    out += fmt::format("  {} {}  {}\n", to_string(block.first->verdict), block.first->cause, to_string(subject));
    if (cause != nullptr) out += fmt::format("      {}\n", cause->title);
    if (!block.first->expected.empty() || !block.first->found.empty())
      out += fmt::format("      expected {}; found {}\n", block.first->expected, block.first->found);
    if (!block.first->limit.empty()) out += fmt::format("      limit {}\n", block.first->limit);
    if (cause != nullptr) out += fmt::format("      {}: {}\n", cause->action, cause->remedy);
  }
  return out;
}

std::string missing_rows(const GateResult& result) {
  constexpr std::size_t shown = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(shown, result.missing.size()); ++i) out += "  " + to_string(result.missing[i]) + "\n";
  if (result.missing.size() > shown) out += fmt::format("  and {} more, see the summary\n", result.missing.size() - shown);
  return out;
}

/// Nodes that no finding of their own shuts: what a pair of them failed could not be put down to either end.
std::string undecided_rows(const GateResult& result) {
  const auto closes = [](const Finding& finding) { return finding.primary && !opens_gate(finding.verdict); };
  std::vector<std::string> names;
  for (const NodeResult& node : result.nodes) {
    const auto about = [&](const Finding& finding) {
      return closes(finding) && (finding.subject.host == node.name || finding.subject.peer == node.name);
    };
    const bool own = std::any_of(node.findings.begin(), node.findings.end(), closes);
    if (node.verdict == Verdict::inconclusive && !own && std::any_of(result.findings.begin(), result.findings.end(), about)) names.push_back(node.name);
  }
  if (names.empty()) return "";
  return fmt::format("  {}: inconclusive because of what they failed in pairs; which end is at fault was not found\n", fold_hosts(names));
}

/// What a READY owes to this run, and for how long.
std::string staging_rows(const GateResult& result) {
  std::vector<std::string> changed, lost;
  for (const NodeResult& node : result.nodes) {
    if (node.changed) changed.push_back(node.name);
    if (node.lost_at_reboot) lost.push_back(node.name);
  }
  std::string out;
  if (!changed.empty()) out += fmt::format("staging changed {}; what was done is in stage.txt\n", fold_hosts(changed));
  if (!lost.empty()) out += fmt::format("  lost at a reboot on {}: no network manager there keeps addresses and MTU\n", fold_hosts(lost));
  return out;
}

}  // namespace

std::string to_string(const Missing& missing) {
  std::string out = missing.check;
  for (std::size_t i = 0; i < missing.hosts.size(); ++i) out += (i == 0 ? " " : ",") + missing.hosts[i];
  if (!missing.rail.empty()) out += " " + missing.rail;
  return out + ": " + missing.reason;
}

std::string to_table(const GateResult& result) {
  std::vector<Finding> primary, echoes;
  const auto sort = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) (finding.primary ? primary : echoes).push_back(finding);
  };
  for (const NodeResult& node : result.nodes) sort(node.findings);
  sort(result.findings);
  std::string out = node_rows(result) + undecided_rows(result) + tier_rows(result) + path_rows(result);
  if (!primary.empty()) out += "findings\n" + finding_rows(primary);
  if (!echoes.empty()) out += fmt::format("  and {} consequences of these, see the records\n", echoes.size());
  if (!result.missing.empty()) out += "not measured\n" + missing_rows(result);
  if (!result.coverage.empty()) out += "coverage " + result.coverage + "\n";
  out += staging_rows(result);
  out += result.text + (result.reason.empty() ? "" : ": " + result.reason) + "\n";
  return out;
}

}  // namespace fabricgate
