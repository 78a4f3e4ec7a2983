#pragma once
/// Record lines turned into exhibits: read, tied to the run by identity, and judged again from their samples. What a line
/// says of itself is never better than what its sample says.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fabric/pairs/frame_loss.hpp"
#include "fabric/pairs/localise.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "suites/check.hpp"
#include "suites/suite.hpp"

namespace fabricgate::suites {

struct RecordFile {
  std::string name;  ///< for messages
  std::string text;  ///< JSON Lines
};

/// Everything a verdict depends on beside the records.
struct GateInput {
  const Inventory& inventory;
  const Suite& suite;
  const Limits& limits;
  RunIdentity identity;
  /// Judge under other limits than the run had: stored verdicts then differ rightly and are used only where there is no
  /// sample.
  bool new_limits = false;
  /// Demand only the tiers up to this one (and nothing that is measured at the end): for decisions during a run.
  std::optional<Tier> through;
  /// Time budget of the pair tier that left pairs out of the plan; 0: every pair was planned.
  double short_budget_s = 0;
  /// What ended the run before its end, e.g. "SIGINT"; empty: nothing.
  std::string interrupted = {};
  /// Why a tier was not measured to its end though no node is at fault; empty: nothing of the kind.
  std::string unfinished = {};
  /// What is wrong with the run as a whole, told by its start.
  std::vector<Finding> findings = {};
};

/// What pair.rail, pair.rdma and pair.overlay measured, a to b first.
struct PathFigures {
  std::array<double, 2> bytes_per_s{};
  std::array<double, 2> cpu_s_per_byte{};  ///< of both ends' threads together; 0: not told
  double latency_s = 0;
};

/// What stage did to a node before it was measured; told beside the verdict.
struct Staged {
  bool changed = false, lost_at_reboot = false;
};

/// Payload that one node sent and received over a rail, as a measurement that ended well says.
struct Moved {
  int node = 0;
  int peer = -1;  ///< -1: several
  int rail = 0;   ///< index into rail_names()
  double sent_bytes = 0, received_bytes = 0;
};

/// Bytes that an interface counted between the two readings of a run.
struct Counted {
  int node = 0, rail = 0;
  double tx_bytes = 0, rx_bytes = 0;
  std::string netdev;
};

/// One accepted record; its sample is dropped after judging, what later steps need of it is kept here.
struct Exhibit {
  Record record;                    ///< sample is null; verdict, reason and findings are the effective ones
  std::string place;                ///< file:line
  std::vector<int> nodes;           ///< hosts as indices into inventory.nodes
  fabric::PairMode mode = fabric::PairMode::together;
  std::vector<fabric::PathResult> paths;  ///< pair.rail, pair.rdma; rail is the index into rail_names()
  std::optional<PathFigures> figures;
  double longest_gap_s = 0;               ///< pair.rail: for so long nothing arrived of what was sent
  std::vector<fabric::ReachFact> reach;   ///< pair.reach
  std::vector<fabric::LossPath> losses;   ///< pair.reach, rails whose frames were counted
  std::optional<fabric::RailFact> rail;   ///< link.rail
  std::size_t start = 0;                  ///< link checks: hash of the reading at the start of the run
  nlohmann::json digest;                  ///< host.facts, host.fleet: see fleet.hpp; stage.node: checksums of the programs
  std::optional<Staged> staged;           ///< stage.node
  std::vector<Moved> moved;               ///< pair.rail, collective.allreduce
  std::optional<Counted> counted;         ///< link.counters
};

struct Exhibits {
  std::vector<Exhibit> records;
  std::vector<Finding> problems;  ///< lines that are no evidence, and why; every one keeps the gate shut
  std::size_t lines = 0;
};

/// Names of all rails of all classes, each once, in order of first appearance.
std::vector<std::string> rail_names(const Inventory& inventory);

/// Uses every processor; the result does not depend on their number or on the order of the lines' duplicates.
Exhibits read_exhibits(const GateInput& input, const std::vector<RecordFile>& files);

/// What localise and plan_retests want to know, from the evidence of the link tier, of pair.rail and of pair.reach.
fabric::Observation pair_observation(const GateInput& input, const std::vector<Exhibit>& records);

/// Whether the interface of one node answers for the address of another. A record of two nodes cannot show it: whose MAC
/// that is stands in a third's link.rail.
bool answered_by_another(const std::vector<Exhibit>& records);

/// The same of pair.rdma alone: a path that carries TCP may carry no RDMA.
fabric::Observation rdma_observation(const GateInput& input, const std::vector<Exhibit>& records);

/// The same of counted frames alone: a path that carries its rate may still lose, and the other way round.
fabric::Observation loss_observation(const GateInput& input, const std::vector<Exhibit>& records);

}  // namespace fabricgate::suites
