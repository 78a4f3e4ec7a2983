#pragma once
/// Many nodes over SSH from one thread: a bounded window of connections, each a small state machine, one poll loop, a
/// deadline on everything. One connection per node and pass; the commands of a node run in it one after the other.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/command/command.hpp"
#include "inventory/host/host.hpp"
#include "inventory/inventory.hpp"
#include "results/deadline.hpp"
#include "results/finding.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

struct NodeJob {
  std::size_t node = 0;  ///< index into inventory.nodes
  Conversation next;
};

struct SessionOutcome {
  std::size_t node = 0;
  Status status;                   ///< why the session did not run to its end
  std::optional<Finding> finding;  ///< set when the node could not be reached, logged into, or was lost
  bool interrupted = false;        ///< Watch::stop ended it, or it was not begun for that reason; then `status` says so
  double connect_s = 0;            ///< until the login was accepted
  double total_s = 0;
};

/// How a caller takes part while sessions are held; both are called from its own thread.
struct Watch {
  std::function<void(const SessionOutcome&)> done = {};  ///< as each session ends
  /// True, and from then on always true, when all must end. No node is begun any more; a running command has its input
  /// ended where it is and 1.5 s to end by itself, within which its conversation may tidy up; then its channel is
  /// closed.
  std::function<bool()> stop = {};
  double patience_s = 20;  ///< so long without a session that ended, the log says for whom it waits and at what
};

/// A file of known hosts that is there can be read; libssh would wait for ever for the writer of a FIFO.
Status check_known_hosts(const Ssh& ssh);

/// Whether what concerns all nodes is good: the key (or the agent), known hosts and the jump host. Connects to nobody.
Status check_login(const Inventory& inventory);

/// Holds every conversation; outcomes in the order of `jobs`. Error only for what concerns all nodes: the key cannot be
/// used, the jump host is malformed, this machine allows too few open files. One node never stops another; nodes that `deadline` leaves no time for end with
/// kind timeout.
Result<std::vector<SessionOutcome>> converse(const Inventory& inventory, std::vector<NodeJob> jobs, Deadline deadline,
                                             const Watch& watch = {});

struct Job {
  std::size_t node = 0;
  std::vector<std::string> argv;
  std::string stdin_data;
  double timeout_s = 60;
  std::size_t max_output = std::size_t{16} << 20;
  std::string doing = {};  ///< as Command::doing
};

struct Outcome {
  std::size_t node = 0;
  Result<CommandResult> result = Error{ErrorKind::bug, "never started", 0};
  std::optional<Finding> finding;
  double connect_s = 0, total_s = 0;
};

/// One command on each node; outcomes in the order of `jobs`.
Result<std::vector<Outcome>> run_on_nodes(const Inventory& inventory, std::vector<Job> jobs, Deadline deadline,
                                          const std::function<void(const Outcome&)>& done = {});

/// "root@10.0.0.1:22": for messages.
std::string ssh_target(const Inventory& inventory, std::size_t node);

}  // namespace fabricgate::bootstrap
