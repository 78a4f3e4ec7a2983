#pragma once
/// The gate from the head node: stage, one mpirun job per tier, evidence fetched from the nodes, verdict. What mpirun prints
/// or returns is no evidence; it is read only to learn which node a launch died of.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/stage/stage_plan.hpp"
#include "launch/gate/blame.hpp"
#include "launch/gate/head.hpp"
#include "launch/gate/run_folder.hpp"
#include "launch/gate/watch.hpp"
#include "launch/progress.hpp"

namespace fabricgate::launch {

class Pipeline {
 public:
  /// Of `staging` what a person can choose counts: reboots, and how long a node may take.
  Pipeline(Setup setup, RunFolder folder, bootstrap::StageOptions staging, Progress& progress);

  /// Returns the exit code of the verdict.
  int run();

 private:
  bool prepare();
  void stage();
  void run_tier(Tier tier);
  void note_unfinished(const std::string& text);
  /// One mpirun job; hosts that it lost have left.
  Blame run_job(Tier tier, const std::string& name);
  /// Hosts that cannot take the job file leave. A value: the job cannot be started at all.
  std::optional<Blame> upload(const Job& job);
  Result<std::vector<std::string>> launch_line(const Job& job);
  /// What was seen of the job until mpirun ended.
  Result<JobEvidence> launch(const Job& job);
  Result<std::vector<bootstrap::Outcome>> ask_all(const Job& job, const std::function<std::vector<std::string>(const std::string&)>& argv) const;
  std::vector<Look> look_at(const Job& job) const;
  void look_for_daemons(const Job& job, std::vector<Look>& looks) const;
  void end_ranks(const Job& job) const;
  void fetch();
  Blame find_blame(const Job& job, JobEvidence seen);
  MpirunSample read_log(const Job& job) const;
  Blame ask_nodes(const Job& job, const JobEvidence& seen) const;
  std::vector<Finding> probe_daemons(const Job& job) const;
  void drop_failed(Tier tier);
  bootstrap::Job clean_up_job(std::size_t node, const std::string& claim) const;
  void clean_up();
  void leave(const std::string& host) { std::erase(hosts_, host); }
  /// The host leaves with a record that says why.
  void lose(Tier tier, const std::string& host, const Finding& finding);
  std::vector<std::string> finished_keys() const;
  std::vector<std::size_t> indices(const std::vector<std::string>& hosts) const;
  std::string spool() const { return setup_.spool(); }

  Setup setup_;
  RunFolder folder_;
  bootstrap::StageOptions staging_;
  Progress& progress_;
  Head head_;
  PortRange launcher_ports_;               ///< of the last job; low 0: any
  std::vector<std::string> hosts_;         ///< still in, inventory order
  std::set<std::string> taken_;            ///< hosts that staging may have taken for this run
  std::set<std::string> unreachable_;      ///< found so by the last fetch
  std::set<std::string> gone_;             ///< found so by any: not waited for again when all is tidied up
  bool fetch_failed_ = false;              ///< evidence of the last job is missing, though no node is at fault
};

}  // namespace fabricgate::launch
