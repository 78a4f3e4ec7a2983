#pragma once
/// Whether the machine that answers for a declared node is that node. Its address does not say so: two entries may lead
/// to one machine, and machines of one image have one host key. Its name does, and a launcher goes by it.
#include <string>
#include <vector>

#include "results/finding.hpp"

namespace fabricgate {

/// Up to the first dot.
std::string short_name(const std::string& name);

/// What answered for a declared node.
struct Answerer {
  std::string node;      ///< as the inventory names it
  std::string hostname;  ///< as the machine's kernel does; empty: it has not answered
  std::string machine;   ///< boot id and UTS namespace: equal for one machine (or container) alone; empty: not known
};

/// One finding for each node whose machine has another short name: launch.hostname_collision where another node's
/// machine has that name too, else host.identity_mismatch, which names the other node (peer) that it is, or has the
/// name of. A node whose machine has its name is never blamed.
std::vector<Finding> judge_names(const std::vector<Answerer>& answerers);

}  // namespace fabricgate
