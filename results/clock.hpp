#pragma once
/// The wall clock, for what is written down; waiting is Deadline's business.
#include <chrono>

namespace fabricgate {

/// Seconds since the epoch.
inline double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace fabricgate
