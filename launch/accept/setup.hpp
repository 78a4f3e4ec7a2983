#pragma once
/// What every rank of a job holds: the declared machines, the limits, who the run is.
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "launch/job.hpp"
#include "results/record.hpp"
#include "suites/gate/gate.hpp"
#include "suites/limits.hpp"
#include "suites/suite.hpp"

namespace fabricgate::launch {

struct Setup {
  Job job;
  Inventory inventory;
  suites::Limits limits;
  suites::Suite suite;
  double started_unix_s = 0;  ///< rank 0's clock when the job began

  /// Folder of the run on this node.
  std::string spool() const { return run_spool(inventory.launcher.spool_dir, job.identity.run); }
};

/// Files that the demands are read from, for messages too; empty where none was given.
struct DemandFiles {
  std::string limits, suite;
};

/// Reads what was given into `job`; what was not leaves its text empty: the built-in one is meant. Errors: a file that
/// cannot be read or is empty, with what there is instead.
Status read_demands(const DemandFiles& files, Job& job);

/// Reads the texts inside `job`. Errors: parse, with the place.
Result<Setup> make_setup(Job job, const DemandFiles& files = {});

/// A job of one person's run by hand: new run id, all tiers of the suite, every node of the inventory.
Job job_by_hand(const Inventory& inventory, const AcceptOptions& options);

/// "20260730-101500-3f2a": sorts by time, unique enough.
std::string new_run_id();

/// What was measured, on its way to a record.
struct Measured {
  std::string check;
  std::vector<std::string> hosts;
  std::string rail;
  int attempt = 0;
  nlohmann::json sample;
  double started_unix_s = 0;
  double elapsed_s = 0;
};

/// The suite without the checks of tiers that are not among `tiers`, for judging a part of a run; it says so (Suite::only).
suites::Suite suite_of_tiers(const suites::Suite& suite, const std::vector<Tier>& tiers);

/// What the gate says of these record lines up to `through`, with nothing demanded of tiers that the job does not have.
GateResult gate_through(const Setup& setup, const std::string& lines, Tier through);

/// The record with the verdict of its judge.
Record judged(const Setup& setup, Measured measured);

/// A record of staging, which knows no limits (of clocks), held against them: never better than it was.
Record held_against_limits(const Setup& setup, Record record);

}  // namespace fabricgate::launch
