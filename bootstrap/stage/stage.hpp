#pragma once
/// Bare nodes to staged nodes, from the head: one SSH session per node in which the agent is put in place, asked for
/// facts and a plan or told to apply it, and fabricgate's own programs are deployed. One node never stops another;
/// every node ends with a state and a reason. What is done is found by looking, so a killed stage is finished by the
/// next one.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/agent/protocol.hpp"
#include "inventory/inventory.hpp"
#include "results/deadline.hpp"
#include "results/record.hpp"

namespace fabricgate::bootstrap {

/// failed, blocked, unreachable: see the reason. planned: plan found something to do. changed: done and looked at
/// again.
enum class NodeState { unchanged, planned, changed, failed, blocked, unreachable };
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

struct StageOptions {
  std::string agent_path;                ///< local fabricgate-agent
  std::string rank_path;                 ///< local fabricgate-rank; empty: not deployed
  std::string run;                       ///< id of the run
  std::string run_folder;                ///< journal/<node>.jsonl is kept in it; empty: no journal
  std::vector<std::string> only_steps;   ///< empty: all
  bool allow_busy = false;               ///< go on where GPU processes, mounts over rails or the busy hook say "in use"
  double node_timeout_s = 900;           ///< the agent's deadline on one node
  int share_index = 0, share_count = 1;  ///< of K processes that divide the nodes: every K-th from share_index
};

using NodeDone = std::function<void(const NodeReport&)>;

/// Changes nothing. Where the agent is not deployed yet it is put into /var/tmp/fabricgate-<random>, run, and removed.
/// Errors concern all nodes: local programs or the key cannot be read.
Result<StageReport> plan_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                               const StageOptions& options, Deadline deadline, const NodeDone& done = {});
Result<StageReport> stage_nodes(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                const StageOptions& options, Deadline deadline, const NodeDone& done = {});

/// Adds host.versions_differ to nodes whose Open MPI or UCX is not that of most nodes. Called by plan_nodes and
/// stage_nodes when there is one share; with more, by the caller on the gathered report.
void judge_versions(StageReport& report);

/// One stage.node record per node of a stage; none for a plan.
std::vector<Record> stage_records(const StageReport& report, const RunIdentity& identity);

/// Nodes with the same state, reason and commands folded into one block, and a last line with the counts.
std::string to_text(const StageReport& report);

/// All nodes of the inventory, or those named in host ranges; Error (parse) for a name it does not have.
Result<std::vector<std::size_t>> select_nodes(const Inventory& inventory, const std::string& ranges);

}  // namespace fabricgate::bootstrap
