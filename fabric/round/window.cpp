#include "fabric/round/window.hpp"

#include <cmath>

namespace fabricgate::fabric {
namespace {

constexpr double alike = 0.05;

double rate(const Mark& from, const Mark& to) {
  return static_cast<double>(to.messages - from.messages) / (to.time_s - from.time_s);
}

}  // namespace

Mark window_start(const std::vector<Mark>& warmup, const Mark& start, const Mark& end) {
  if (!(end.time_s > start.time_s) || end.messages <= start.messages) return start;
  const double after = rate(start, end);
  for (const Mark& mark : warmup)
    if (mark.time_s < start.time_s && std::abs(rate(mark, start) / after - 1) <= alike) return mark;
  return start;
}

}  // namespace fabricgate::fabric
