#pragma once
/// How a stage went, node by node, and what is made of it: records and text.
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/agent/protocol.hpp"
#include "inventory/inventory.hpp"
#include "results/record.hpp"

namespace fabricgate::bootstrap {

/// failed, blocked, unreachable: see the reason. planned: plan found something to do. changed: done and looked at
/// again. interrupted: StageOptions::stop came before the node was done, or before it was begun.
enum class NodeState { unchanged, planned, changed, failed, blocked, unreachable, interrupted };
inline constexpr NodeState node_states[] = {NodeState::unchanged,  NodeState::planned, NodeState::changed,
                                            NodeState::failed,     NodeState::blocked, NodeState::unreachable,
                                            NodeState::interrupted};
const char* to_string(NodeState state);

struct NodeReport {
  std::size_t node = 0;  ///< index into inventory.nodes
  std::string name;
  NodeState state = NodeState::failed;
  std::string reason;                 ///< empty for unchanged, planned, changed
  std::vector<std::string> commands;  ///< what a person would type; for stage: what was done
  std::vector<Finding> findings;
  std::vector<StepReport> steps;  ///< of the agent, and "deploy" last
  std::optional<Facts> facts;
  std::string hostname, machine;         ///< of what answered, see Answerer; empty: nothing did
  std::optional<double> clock_offset_s;  ///< node's clock minus ours
  double clock_error_s = 0;              ///< half the time between asking and hearing: bound of the offset's error
  double started_unix_s = 0, connect_s = 0, elapsed_s = 0;
};

struct StageReport {
  bool dry_run = false;
  std::string agent_sha256, rank_sha256;  ///< of the local programs; rank empty when it is not deployed
  std::vector<NodeReport> nodes;          ///< in the order asked for
  double elapsed_s = 0;
};

/// Adds host.versions_differ to nodes whose Open MPI or UCX is not that of most nodes. Called by plan_nodes and
/// stage_nodes when there is one share; with more, by the caller on the gathered report.
void judge_versions(StageReport& report);

/// Says of nodes whose machine has another name which other node of the report it is, or has the name of. Called like
/// judge_versions.
void judge_identities(StageReport& report);

/// One stage.node record per node of a stage; none for a plan.
std::vector<Record> stage_records(const StageReport& report, const RunIdentity& identity);

/// Nodes with the same state, reason and commands, but for their rail addresses, folded into one block
/// (fold_plans.hpp), and a last line with the counts. `inventory` is the one the report is about.
std::string to_text(const StageReport& report, const Inventory& inventory);

}  // namespace fabricgate::bootstrap
