#pragma once
/// The gate from the head node: stage, one mpirun job per tier, evidence fetched from the nodes, verdict. What mpirun prints
/// or returns is no evidence; it is read only to learn which node a launch died of.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "launch/gate/run_folder.hpp"
#include "launch/gate/watch.hpp"
#include "launch/mpirun.hpp"
#include "launch/progress.hpp"

namespace fabricgate::launch {

class Pipeline {
 public:
  Pipeline(Setup setup, RunFolder folder, Progress& progress);

  /// Returns the exit code of the verdict.
  int run();

 private:
  bool prepare();
  void stage();
  void run_tier(Tier tier);
  /// One mpirun job. Returns the hosts it lost; `complete` says whether the tier is done.
  std::set<std::string> run_job(Tier tier, const std::string& name, bool& complete);
  bool upload(const Job& job);
  void launch(const Job& job);
  std::vector<Look> look_at(const Job& job) const;
  void fetch();
  std::set<std::string> find_lost(Tier tier, const Job& job, bool& complete);
  std::set<std::string> blame_launch(Tier tier, const Job& job);
  std::set<std::string> probe_daemons(Tier tier, const Job& job);
  void drop_failed(Tier tier);
  void clean_up();
  void leave(const std::string& host) { std::erase(hosts_, host); }
  /// The host leaves with a record that says why.
  void lose(Tier tier, const std::string& host, const Finding& finding);
  std::vector<std::string> finished_keys() const;
  std::vector<std::size_t> indices(const std::vector<std::string>& hosts) const;
  std::string spool() const { return setup_.spool(); }

  Setup setup_;
  RunFolder folder_;
  Progress& progress_;
  std::string mpirun_;
  MpirunVersion version_;
  std::vector<std::string> hosts_;         ///< still in, inventory order
  std::set<std::string> taken_;            ///< hosts that staging may have taken for this run
  std::set<std::string> unreachable_;      ///< found so by the last fetch
  bool fetch_failed_ = false;                  ///< evidence of the last job is missing, though no node is at fault
  bool never_began_ = false;                   ///< the last job started nothing anywhere
  std::map<std::string, std::string> silent_;  ///< given up during the last job, and why
};

}  // namespace fabricgate::launch
