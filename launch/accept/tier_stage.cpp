// Staging inside a job: every rank stages its own node, rank 0 compares them and keeps the records that a stage over
// SSH would have made.
#include "bootstrap/stage/hooks.hpp"
#include "bootstrap/stage/report.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/accept/share.hpp"
#include "launch/gate/report.hpp"
#include "launch/interrupt.hpp"
#include "results/file.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

using bootstrap::NodeReport;
using bootstrap::NodeState;

/// One node, as a stage over SSH may take, and what the agent and its uploads add to its own limit.
constexpr double node_s = 900, beyond_agent_s = 30;
constexpr double hooks_s = 300;

struct Answers {
  std::vector<std::optional<std::string>> shares;
  std::map<std::string, nlohmann::json> programs;  ///< by host: what it was staged with
};

void keep_file(const std::string& folder, const std::string& name, const std::string& text) {
  Status kept = make_spool(folder);
  if (kept) kept = write_file_atomic(folder + "/" + name, text);
  if (!kept) log::error(kept.error().with("spool").what);
}

/// Journals are kept beside rank 0's own; a rank that acts for no node has nothing to tell.
Answers read_answers(const Coordinator& c, const std::vector<std::optional<Reply>>& replies) {
  Answers out;
  for (const std::string& host : c.hosts()) {
    const int rank = c.rank_of(host);
    if (rank < 0 || static_cast<std::size_t>(rank) >= replies.size()) continue;
    const auto& reply = replies[static_cast<std::size_t>(rank)];
    if (!reply || !reply->data.is_object() || !reply->data.contains("share")) continue;
    out.shares.push_back(reply->data.at("share").get<std::string>());
    out.programs[host] = reply->data;
    keep_file(c.setup().spool() + "/journal", host + ".jsonl", reply->data.value("journal", ""));
  }
  return out;
}

/// A node that was staged by another agent than rank 0's is in another state than it says.
void compare_agents(const Answers& answers, std::vector<NodeReport>& nodes) {
  if (nodes.empty()) return;
  const auto agent_of = [&](const NodeReport& node) {
    return answers.programs.at(node.name).value("agent_sha256", "");
  };
  const std::string expected = agent_of(nodes.front());
  for (NodeReport& node : nodes) {
    const std::string found = agent_of(node);
    if (found == expected || found.empty()) continue;
    node.findings.push_back(
        make_finding("launch.program_differs", {.host = node.name}, "fabricgate-agent " + expected, found));
    node.state = NodeState::failed;
    node.reason = "launch.program_differs: fabricgate-agent " + found;
  }
}

void keep_records(Coordinator& c, const Answers& answers, bootstrap::StageReport report) {
  compare_agents(answers, report.nodes);
  for (const NodeReport& node : report.nodes) {
    const nlohmann::json& with = answers.programs.at(node.name);
    const bootstrap::StageReport one{
        .agent_sha256 = with.value("agent_sha256", ""), .rank_sha256 = with.value("rank_sha256", ""), .nodes = {node}};
    for (Record& record : bootstrap::stage_records(one, c.setup().job.identity)) c.keep(held_against_limits(c.setup(), std::move(record)));
  }
  keep_file(c.setup().spool(), "stage.txt", bootstrap::to_text(report, c.setup().inventory));
}

}  // namespace

double stage_limit_s() {
  return node_s + beyond_agent_s;
}

void refuse_busy(Coordinator& c, Tier tier, const std::string& host, const std::string& why) {
  const Finding finding = make_finding("stage.node_busy", {.host = host}, "a node nobody uses", why);
  log::warn(host + " leaves: " + finding.cause + ": " + why);
  c.keep(statement(c.setup(), tier, host, finding, 1));
  c.leave(host);
}

void ask_busy_hook_here(Coordinator& c, Tier tier) {
  const Setup& setup = c.setup();
  if (!setup.job.headless || setup.job.options.allow_busy) return;
  const std::vector<std::string> hosts = c.hosts();
  std::vector<std::size_t> nodes;
  for (const std::string& host : hosts) nodes.push_back(*setup.inventory.find(host));
  const auto busy = bootstrap::ask_busy_hook(setup.inventory, nodes,
                                             Deadline::in_seconds(std::min(hooks_s, c.left_s())), interrupted);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (busy[i]) refuse_busy(c, tier, hosts[i], *busy[i]);
}

void run_stage_tier(Coordinator& c) {
  ask_busy_hook_here(c, Tier::stage);
  const int total = static_cast<int>(c.hosts().size());
  c.show({.tier = "stage", .done = 0, .total = total});
  const auto replies = c.ask("stage", {{"hosts", c.hosts()}}, stage_limit_s());
  const Answers answers = read_answers(c, replies);
  c.show({.tier = "stage", .done = static_cast<int>(answers.shares.size()), .total = total});
  Shares all = join_shares(answers.shares, false);
  for (const int lost : all.lost) log::error("stage: answer " + std::to_string(lost) + " cannot be read");
  keep_records(c, answers, std::move(all.report));
}

}  // namespace fabricgate::launch
