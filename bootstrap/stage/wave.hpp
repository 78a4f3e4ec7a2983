#pragma once
/// How many nodes are rebooted at once.
#include <cstddef>
#include <string>

#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// A number of nodes, or a share of those that wait.
struct Wave {
  std::size_t nodes = 0;  ///< 0: by the share
  double share = 0.1;

  /// At least one.
  std::size_t of(std::size_t waiting) const;
  /// Waves that so many nodes, or any part of them, need at most.
  std::size_t most(std::size_t all) const;
};
/// "4" or "10%". Error (parse) for anything else, 0 and more than 100 % included.
Result<Wave> parse_wave(const std::string& text);

}  // namespace fabricgate::bootstrap
