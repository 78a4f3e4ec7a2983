#pragma once
/// The site's hook that says whether a job owns a node; runs on the head.
#include <functional>
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

}  // namespace fabricgate::bootstrap
