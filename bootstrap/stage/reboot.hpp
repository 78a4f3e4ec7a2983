#pragma once
/// Nodes that wait for a reboot are rebooted in waves: drained, told, waited for until they answer with another boot
/// id, staged again. A node that does not come back is named, and no further wave is begun. Which nodes wait is found
/// by looking, so that a killed run goes on without rebooting again what has come up already.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/stage/report.hpp"
#include "bootstrap/stage/wave.hpp"
#include "results/deadline.hpp"

namespace fabricgate::bootstrap {

/// What only a reboot brings is all that the node's steps have left over; busy nodes and those that were not looked at
/// are not asked to. `head_boot_id` is that of the machine we run on, which is never rebooted.
bool waits_for_reboot(const NodeReport& report, const std::string& head_boot_id);
/// Of NodeReport::machine; empty: not known.
std::string boot_id_of(const NodeReport& report);

/// "/bin/sh -c …": reboots the machine, unless it has another boot id than `boot_id` by now, or is the head.
inline constexpr int exit_booted_since = 3, exit_is_head = 4;
std::vector<std::string> reboot_command(const std::string& boot_id, const std::string& head_boot_id);

/// How it is done; lambdas in tests. Nodes are indices into the inventory.
struct RebootMeans {
  std::function<std::map<std::size_t, std::string>(const std::vector<std::size_t>&)> drain;  ///< why one could not be
  std::function<std::map<std::size_t, std::string>(const std::vector<const NodeReport*>&)> order;  ///< why one did not
  std::function<std::map<std::size_t, std::string>(const std::vector<std::size_t>&)> boot_ids;     ///< of who answers
  std::function<Result<std::vector<NodeReport>>(const std::vector<std::size_t>&)> stage;
  std::function<void()> pause;  ///< between two looks
  std::function<bool()> stop;
};

struct RebootRules {
  Wave wave;
  std::string head_boot_id;
  double timeout_s = 900;  ///< for a node to come back
};

/// Replaces the reports of rebooted nodes by what staging them again gave. Each node is rebooted once at most.
Status reboot_in_waves(std::vector<NodeReport>& reports, const RebootRules& rules, const RebootMeans& means);

}  // namespace fabricgate::bootstrap
