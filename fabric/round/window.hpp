#pragma once
/// Which part of a stream counts. What came before the fixed warm-up had passed is trusted only as far as it ran at the
/// rate of what came after it: so slow start, a full token bucket or a cold cache stay out of a result, as far as they
/// change the rate, and a path that was warm at once loses nothing.
#include <cstdint>
#include <vector>

namespace fabricgate::fabric {

/// So many messages had arrived at this time.
struct Mark {
  double time_s = 0;
  std::uint64_t messages = 0;
};

/// The earliest mark of the warm-up (ascending, all before `start`) from which on to `start` the rate was within 5 % of
/// that from `start` to `end`; `start` when there is none. So the rate from the answer to `end` differs from the latter
/// by at most 5 % times the share that the warm-up has in it; on a shaped 1 Gb/s rail of a busy machine: up to 1 %,
/// either way.
Mark window_start(const std::vector<Mark>& warmup, const Mark& start, const Mark& end);

}  // namespace fabricgate::fabric
