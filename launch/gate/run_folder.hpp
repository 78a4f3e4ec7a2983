#pragma once
/// A run is a folder: copies of what it was judged by, what every node wrote, and the verdict.
///
///   RUN/inventory.yaml limits.yaml suite.yaml identity.json     what the run rests on
///   RUN/interrupted                                              the signal that ended the run, where one did
///   RUN/unfinished                                               why a tier was not measured to its end though no node is at fault
///   RUN/hostfile-JOB mpirun-JOB.log ssh_config ssh_to_node jobs/JOB.json   how its jobs were started
///   RUN/spools/NODE/…                                            copies of the nodes' spools
///   RUN/findings.jsonl                                           what is wrong with the run as a whole, as its start showed
///   RUN/head.jsonl                                               records made on the head node
///   RUN/records.jsonl summary.json junit.xml table.txt           the result
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/accept/setup.hpp"
#include "results/file.hpp"
#include "suites/gate/gate.hpp"

namespace fabricgate::launch {

/// Calls `each` for every line that is not empty, without its end.
void for_each_line(std::string_view text, const std::function<void(std::string_view)>& each);

class RunFolder {
 public:
  /// Makes DIR/RUN with the copies. Refuses a folder that exists.
  static Result<RunFolder> create(const std::string& runs_dir, const Setup& setup);
  /// The setup of a run on disk, for `judge`; texts of limits and suite are those of the run.
  static Result<Setup> load(const std::string& folder);
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string spool_of(const std::string& host) const { return path_ + "/spools/" + host; }

  /// A signal ended the run; kept in RUN/interrupted.
  Status note_interrupt(const std::string& signal) const { return write_file_atomic(file("interrupted"), signal + "\n"); }
  /// The signal's name, empty when the run came to its end.
  std::string interrupted() const { return first_line("interrupted", "a signal"); }
  Status note_unfinished(const std::string& why) const { return write_file_atomic(file("unfinished"), why + "\n"); }
  /// Why a tier was not measured to its end, empty when all were or a node is at fault.
  std::string unfinished() const { return first_line("unfinished", "a job"); }

  Status add(const Record& record) const;
  /// Of the run as a whole.
  Status add(const Finding& finding) const;
  /// Those that were added. A line that cannot be read is one that keeps the gate shut.
  std::vector<Finding> findings() const;
  /// Every record file of head and nodes, in a fixed order. What cannot be read is a line that is no record, so that it keeps the gate shut and is named.
  std::vector<suites::RecordFile> record_files() const;
  /// Lines of all files, equal ones once: RUN/records.jsonl.
  Status write_records() const;

 private:
  /// Of a file that is there for its presence; empty when it is not, `otherwise` when the line is.
  std::string first_line(const std::string& name, const char* otherwise) const;

  std::string path_;
};

/// RUNS/latest names the newest run that has a verdict of its own making; an atomic replacement, never a missing link. On
/// an error, of which a RUNS/latest that is a folder is one, everything stays as it was.
Status point_latest(const std::string& runs, const std::string& run);

}  // namespace fabricgate::launch
