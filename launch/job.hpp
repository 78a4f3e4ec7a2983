#pragma once
/// What one launched job is to do: everything a rank needs, in one file on its node, so that nothing depends on what the
/// node has lying about.
#include <string>
#include <vector>

#include "results/record.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

/// How thorough and how long.
struct AcceptOptions {
  double budget_s = 0;     ///< 0: every pair; else as many pair rounds as fit
  bool allow_busy = false; ///< measure although a node is in use
  std::uint64_t seed = 1;

  friend bool operator==(const AcceptOptions&, const AcceptOptions&) = default;
};

struct Job {
  RunIdentity identity;
  std::string name;            ///< unique in the run: "pair", "pair-2"
  std::string inventory_text, limits_text, suite_text;  ///< limits and suite empty: the built-in ones
  std::vector<Tier> tiers;
  std::vector<std::string> hosts;     ///< in rank order; who is expected to arrive
  std::vector<std::string> finished;  ///< subject keys that need not be measured again
  AcceptOptions options;
  std::string head;            ///< host name of the machine that leads the run
  bool headless = false;       ///< no head stages, asks the busy hook or starts the job again: rank 0 does what can be done
  double deadline_s = 0;       ///< for the whole job, from its start on the node
};

/// How long a node stays a run's after its last process there (claim.hpp): from the end of a job until the next one is on all
/// nodes, each part at its limit: spools fetched, launcher daemons tried, job file sent twice, mpirun started and watched.
inline constexpr double between_jobs_s = 600;

std::string to_text(const Job& job);
Result<Job> job_from_text(const std::string& text);

/// Files of a run below the spool folder of a node.
std::string run_spool(const std::string& spool_dir, const std::string& run);
std::string job_path(const std::string& spool_dir, const std::string& run, const std::string& job);
/// What a rank measured on its own node.
std::string rank_spool(const std::string& spool_dir, const std::string& run, const std::string& host);
/// Everything rank 0 saw in one job.
std::string records_spool(const std::string& spool_dir, const std::string& run, const std::string& job);
/// Who was started where: one line {"pid","start_ticks","host","job"} per process.
std::string process_spool(const std::string& spool_dir, const std::string& run);

}  // namespace fabricgate::launch
