#pragma once
/// Who leaves for a job that ended before its work was done, or why nobody does. Pure: what was seen of the job goes
/// in.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inventory/logs/mpirun_log.hpp"
#include "launch/accept/coordinator.hpp"
#include "results/finding.hpp"

namespace fabricgate::launch {

/// What the head knows of a job once it is over.
struct JobEvidence {
  std::vector<std::string> hosts = {};             ///< of the job
  int signal = 0;                                  ///< that ended mpirun and was not ours
  bool timed_out = false;                          ///< it was ended at its deadline
  std::string never_began = {};                    ///< no process of it began on any node: what is known of that
  std::map<std::string, Finding> given_up = {};    ///< by JobWatch
  bool nobody_reached = false;                     ///< by its last look, of several hosts
  bool interrupted = false;                        ///< by the user
  bool fetched = true;                             ///< what its ranks wrote was brought here
  std::set<std::string> unreachable = {};          ///< no longer answer over SSH
  std::optional<JobStatus> status = {};            ///< what rank 0 wrote last
  MpirunSample said = {};                          ///< hosts by their names in the inventory
};

struct Blame {
  bool complete = false;          ///< the work of the job is done
  std::vector<Finding> findings;  ///< of the hosts that leave, one each
  std::string reason;             ///< no host is at fault: what ended the job
  bool again = false;             ///< that may be otherwise the next time
  bool cut_off = false;           ///< no host of several answers: that is rather what they share, or our own way to them

  bool decided() const { return complete || !findings.empty() || !reason.empty(); }
};

/// Nobody is blamed where none of several hosts answers.
Blame nobody_answers(std::size_t hosts);

/// Not decided: the nodes must be asked.
Blame blame(const JobEvidence& seen);

}  // namespace fabricgate::launch
