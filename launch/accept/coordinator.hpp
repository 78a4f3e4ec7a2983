#pragma once
/// Rank 0 of a job: gives the orders, holds the evidence, knows who is still there. The tiers (tier_*.cpp) are written on
/// top of ask() and add().
#include <set>
#include <string>
#include <vector>

#include "fabric/rendezvous.hpp"
#include "launch/accept/order.hpp"
#include "launch/accept/place.hpp"
#include "launch/accept/setup.hpp"
#include "launch/accept/worker.hpp"
#include "launch/progress.hpp"

namespace fabricgate::launch {

/// How a job ended; the measurements are in the records.
struct JobStatus {
  std::string job;
  std::string state;                ///< complete, rank_missing, interrupted, no_time
  std::vector<std::string> missing; ///< hosts whose rank fell silent or never came
  std::string during;               ///< what was asked for when it fell silent
  Tier tier = Tier::host;           ///< where the job was when it ended
  std::vector<Finding> findings;    ///< launch.* about hosts, missing ones included
};
std::string to_text(const JobStatus& status);
Result<JobStatus> job_status_from_text(const std::string& text);
std::string status_path(const std::string& spool_dir, const std::string& run, const std::string& job);

class Coordinator {
 public:
  Coordinator(const Setup& setup, Worker& own, fabric::Rendezvous& meet, Progress& progress);

  /// The whole job; what is measured is in records_spool as soon as it is known.
  JobStatus run(int local_rank);

  // for the tiers
  const Setup& setup() const { return setup_; }
  /// Hosts that are there and in no trouble, inventory order.
  const std::vector<std::string>& hosts() const { return hosts_; }
  int rank_of(const std::string& host) const;
  /// One order to all ranks, at most `seconds` of work each; by rank, nullopt for a rank that did not answer. Records in
  /// the replies are evidence already when this returns.
  std::vector<std::optional<Reply>> ask(const std::string& kind, nlohmann::json body, double seconds);
  void add(Measured measured);
  /// Evidence that is judged already.
  void keep(Record record);
  const std::vector<Record>& records() const { return records_; }
  /// The same as lines, for the gate's readers.
  std::string record_lines() const;
  bool is_finished(const std::string& key) const { return finished_.count(key) > 0; }
  /// True when the job must end: someone is missing, interrupted, or out of time.
  bool over() const;
  double left_s() const { return deadline_.left_s(); }
  void show(const ProgressEvent& event) { progress_.show(event); }
  void leave(const std::string& host);

 private:
  bool call_the_roll(int local_rank);
  void take_lines(const Reply& reply);
  void note_missing(std::size_t rank, const std::string& during);
  void run_tier(Tier tier);
  void drop_failed(Tier tier);
  void tell_roster();
  void end_all_ranks();

  const Setup& setup_;
  Worker& own_;
  fabric::Rendezvous& meet_;
  Progress& progress_;
  Deadline deadline_;
  std::vector<std::string> hosts_, host_of_rank_;
  std::vector<Record> records_;
  std::set<std::string> finished_;
  JobStatus status_;
};

/// stage.node of each node, staged by its own rank.
void run_stage_tier(Coordinator& coordinator);
/// Longest time the stage order may take.
double stage_limit_s();
/// Where no head did: asks the site's busy hook about the hosts that are in; who is busy leaves in `tier`.
void ask_busy_hook_here(Coordinator& coordinator, Tier tier);
/// The host leaves in `tier` with stage.node_busy.
void refuse_busy(Coordinator& coordinator, Tier tier, const std::string& host, const std::string& why);
/// Adds host.facts of each node and host.fleet.
void run_host_tier(Coordinator& coordinator);
/// link.rail of each rail.
void run_link_tier(Coordinator& coordinator);
/// pair.reach, pair.rail, pair.rdma, repetitions of suspects, pair.overlay.
void run_pair_tier(Coordinator& coordinator);
/// collective.allreduce, by subsets when it is slow.
void run_collective_tier(Coordinator& coordinator);
/// link.counters of each rail, against the reading of link.rail in the node's spool.
void run_counters(Coordinator& coordinator);

/// Seconds the tiers of this job should take, for the line printed first and for deadlines.
double expected_seconds(const Inventory& inventory, const Job& job);
/// The job's own deadline where it has one, else a generous multiple of the expected time.
double job_deadline_s(const Inventory& inventory, const Job& job);

}  // namespace fabricgate::launch
