#include "fabric/link/sequence_count.hpp"

#include <algorithm>

namespace fabricgate::fabric {

bool SequenceCount::note(std::uint32_t sequence) {
  if (sequence >= seen_.size()) return false;
  if (seen_[sequence]) {
    ++repeated_;
    return true;
  }
  seen_[sequence] = true;
  ++received_;
  reached_ = std::max(reached_, sequence + 1);
  return true;
}

}  // namespace fabricgate::fabric
