#pragma once
/// The site's hooks: whether a job owns a node, and taking work off one before it reboots. They run on the head.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/deadline.hpp"

namespace fabricgate::bootstrap {

/// Asks hooks.busy for each node, several at once, 30 s each. Per node: nullopt for free (exit 0), else why it counts
/// as busy: exit 1, and, since an unknown state is not a free one, any failure or timeout of the hook. No hook: all
/// free. When `stop` becomes true, for good, running hooks are killed and the rest is not asked: the caller must then
/// begin nothing, whatever is returned.
std::vector<std::optional<std::string>> ask_busy_hook(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                                      Deadline deadline, const std::function<bool()>& stop = {});

/// Runs hooks.drain for each node, several at once, ten minutes each. The nodes it did not drain, with the reason: any
/// exit code but 0, and a timeout. No hook: nothing to take off.
std::map<std::size_t, std::string> run_drain_hook(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                                  Deadline deadline, const std::function<bool()>& stop = {});

}  // namespace fabricgate::bootstrap
