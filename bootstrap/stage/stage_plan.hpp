#pragma once
/// What is the same for all nodes of one stage: what was asked for, and the programs that are put on nodes.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/stage/wave.hpp"
#include "inventory/inventory.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

struct RebootOptions {
  bool allowed = false;  ///< nodes whose steps wait for a reboot are rebooted in waves; over SSH from one process alone
  Wave wave;
  double timeout_s = 900;  ///< for a node to come back
};

struct StageOptions {
  std::string agent_path;                ///< local fabricgate-agent
  std::string rank_path;                 ///< local fabricgate-rank; empty: not deployed
  std::string run;                       ///< id of the run
  std::string head = {};                 ///< host name of the machine that leads it, where that is not this one
  double lease_s = 0;                    ///< how long the nodes stay the run's after the stage, see claim.hpp
  std::string run_folder;                ///< journal/<node>.jsonl is kept in it; empty: no journal
  std::vector<std::string> only_steps;   ///< empty: all
  bool undo = false;                     ///< take away what stages have left; nothing is deployed
  bool allow_busy = false;               ///< go on where GPU processes, mounts over rails or the busy hook say "in use"
  RebootOptions reboot = {};
  double node_timeout_s = 900;           ///< the agent's deadline on one node
  int share_index = 0, share_count = 1;  ///< of K processes that divide the nodes: every K-th from share_index
  /// True, and from then on always true, when all must end within about two seconds. No node is begun any more, an
  /// agent at work finishes its step and begins no other, files half sent are removed; the next stage goes on.
  std::function<bool()> stop = {};
};

struct StagePlan {
  const Inventory& inventory;
  const StageOptions& options;
  bool dry_run = false;
  std::shared_ptr<const std::string> agent, rank;  ///< contents; rank null: not deployed
  std::string agent_sha256, rank_sha256;
  bool inputs_held = false;  ///< whoever carries the commands heeds Command::hold_input
};

/// Reads the programs and makes the folder of the journals. The arguments must outlive the plan. Errors: a program that
/// cannot be read or is empty, a folder that cannot be made.
Result<StagePlan> make_stage_plan(const Inventory& inventory, const StageOptions& options, bool dry_run);

}  // namespace fabricgate::bootstrap
