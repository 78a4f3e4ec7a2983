#pragma once
/// Watches a launched job from the head. As long as the job says something (rank 0's progress), nothing is done. When it falls
/// silent the pulses of its ranks are read over SSH, a few times; a node whose pulse stands still or that does not answer, look
/// after look, is given up, and the job is ended so that it can start again without it. While no process has begun anywhere
/// the daemons are what is looked at; what they lack is a node's fault only where another's has come through to the head.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/accept/pulse.hpp"
#include "launch/gate/daemon.hpp"

namespace fabricgate::launch {

struct WatchTimes {
  double silence_s = 10;   ///< of the job, before the pulses are read
  double between_s = 3;    ///< from one look to the next while some pulse stands still
  int looks = 3;           ///< in a row without a beat, then a node is given up
  double start_s = 60;     ///< for a process to appear at all
  int after_others = 20;   ///< beats of the first process, by which the last one must have appeared
  double leave_s = 10;     ///< for mpirun to end after rank 0 said that the job is over
};

/// What one look found out about one node.
struct Look {
  bool reached = false;                ///< by SSH
  std::optional<PulseReading> pulse;   ///< nullopt: none there
  std::string why;                     ///< not reached: the reason
  std::optional<DaemonReading> daemon = {};  ///< looked for where no process has begun on any node
};

class JobWatch {
 public:
  /// `now` in seconds, any origin; `look` answers for every host, in order.
  JobWatch(std::vector<std::string> hosts, std::function<double()> now, std::function<std::vector<Look>()> look, WatchTimes times = {});

  /// The job said something.
  void heard();
  /// ssh says that it started the launcher's daemon on the host.
  void started(const std::string& host) { started_.insert(host); }
  /// Rank 0 said that the job is over.
  void ended();
  /// True when waiting for the job makes no sense any more; called several times a second, may look, which takes seconds.
  bool give_up();
  const std::map<std::string, Finding>& given_up() const { return given_up_; }
  /// The last look reached none of several hosts.
  bool nobody_reached() const { return nobody_reached_; }
  /// The launcher started nothing on any node, which names none: what was found; else empty.
  const std::string& never_began() const { return never_began_; }

 private:
  struct Seen {
    std::int64_t beats = 0;
    int still = 0;
    int troubled = 0;  ///< looks in a row that found the same trouble of the daemon
    std::optional<Finding> trouble = {};
  };
  bool look_at_all();
  void judge_starts(const std::vector<Look>& looks);
  std::string judge(Seen& seen, const Look& look, std::int64_t most_beats) const;

  std::vector<std::string> hosts_;
  std::function<double()> now_;
  std::function<std::vector<Look>()> look_;
  WatchTimes times_;
  std::vector<Seen> seen_;
  std::set<std::string> started_;
  std::map<std::string, Finding> given_up_;
  std::string never_began_;
  bool nobody_reached_ = false;
  bool compared_ = false;  ///< this silence was looked at before
  double began_s_, next_look_s_, silence_s_;
  std::optional<double> ended_s_;
};

}  // namespace fabricgate::launch
