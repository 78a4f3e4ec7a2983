#pragma once
/// Whose a node is: the file `in-use` below the spool folder, so that two runs never change or measure a node at once.
///
/// Every process that works on the node holds a shared lock (flock) on the file, which the kernel ends with the
/// process, so that a kill leaves nothing. Between two processes of one run (the jobs of a gate) the text in the file
/// keeps the node: it names the run, and counts for `lease_s` from the file's time, which every process renews. A
/// reboot ends it.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/result.hpp"

namespace fabricgate {

struct Occupant {
  std::string run;
  std::string head;          ///< host name of the machine that leads the run
  std::string head_process;  ///< process_mark of what leads it there; empty: not known
  double since_unix_s = 0;
  double lease_s = 0;  ///< 0: the node is free as soon as the last process of the run there has ended

  friend bool operator==(const Occupant&, const Occupant&) = default;
};
nlohmann::json to_json_value(const Occupant& occupant);
Result<Occupant> occupant_from_json(const nlohmann::json& value);

/// A run that keeps others away.
struct Holder {
  Occupant occupant;
  bool working = false;     ///< a process of it is on the node
  double until_unix_s = 0;  ///< when its lease ends unless renewed; 0: it has none

  friend bool operator==(const Holder&, const Holder&) = default;
};
nlohmann::json to_json_value(const Holder& holder);
Result<Holder> holder_from_json(const nlohmann::json& value);
/// "fabricgate run R, led from HEAD since 2026-07-30 10:15:00 UTC, …", and until when it can last.
std::string to_string(const Holder& holder);

/// This process's share of the node; given up when destroyed.
class Claim {
 public:
  explicit Claim(int fd) : fd_(fd) {}
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  /// The lease counts from now on. Any thread.
  void renew() const;

 private:
  int fd_;
};

struct Claimed {
  std::unique_ptr<Claim> claim;  ///< null: see `other`
  std::optional<Holder> other;
};

std::string claim_path(const std::string& spool_dir);

/// Takes the node for `occupant.run`, or says who has it, within two seconds. Processes of one run share it, and the first
/// of them sets the lease. The lease of the run `ended` does not count, its processes do. Makes the folder. Errors: the
/// file cannot be opened, locked or written.
Result<Claimed> claim_node(const std::string& spool_dir, const Occupant& occupant, const std::string& ended = "");

}  // namespace fabricgate
