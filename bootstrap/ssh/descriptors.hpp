#pragma once
/// The limit of open file descriptors (RLIMIT_NOFILE) of this process and of what it starts.
#include <cstddef>
#include <cstdint>

#include "inventory/inventory.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// 256 + 8 for each node that is spoken to at once: mpirun holds a connection to its daemon and the pipes of the ssh that
/// starts it, our own pool a socket; the 256 are for what does not grow with nodes.
std::uint64_t descriptors_for(std::size_t nodes);

/// Raises the soft limit to descriptors_for(nodes) where it is lower, never the hard one. Error (unavailable) where the hard
/// limit is too low, since whoever runs out of descriptors takes nodes for silent.
Status allow_descriptors(std::size_t nodes);
/// For those of `nodes` that are spoken to at once over SSH.
Status allow_descriptors(const Ssh& ssh, std::size_t nodes);

}  // namespace fabricgate::bootstrap
