#pragma once
/// Which entry of a RoCE port's GID table carries a rail. By type, address and interface; an index is never assumed,
/// because the order of entries differs with driver, VLANs and the history of addresses.
#include <string>
#include <vector>

#include "inventory/observe/rdma.hpp"

namespace fabricgate {

enum class GidProblem {
  none,
  empty,            ///< no entry at all
  link_local,       ///< fe80 entries only: they do not route
  roce_v1,          ///< the address is there, as RoCE v1 only
  other_interface,  ///< the address is there as RoCE v2, on another interface than the rail's
  ambiguous,        ///< more than one RoCE v2 entry with address and interface
  address_missing   ///< RoCE v2 entries of other addresses only
};

/// The row of results/causes.tsv that says so; null for none.
const char* cause_of(GidProblem problem);

struct GidChoice {
  int index = -1;  ///< usable when problem is none
  GidProblem problem = GidProblem::none;
  std::string found;  ///< the entries that were looked at, for a message
};

/// `address` of the rail, host byte order.
GidChoice choose_gid(const std::vector<Gid>& gids, const std::string& netdev, std::uint32_t address);

}  // namespace fabricgate
