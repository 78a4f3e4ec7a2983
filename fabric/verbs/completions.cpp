#include "fabric/verbs/completions.hpp"

#include "fabric/verbs/failure.hpp"

namespace fabricgate::fabric {

void BadCompletions::take(const ibv_wc& wc) {
  if (wc.status == IBV_WC_SUCCESS) return;
  if (!is_echo(wc.status)) {
    if (!first_) first_ = wc;
    return;
  }
  if (echoes_++ == 0) flush_ = wc;
}

void BadCompletions::drain(ibv_cq* cq) {
  constexpr int batch = 16;
  constexpr int most = 1 << 20;  // a queue that never empties is not ours to wait for
  ibv_wc wcs[batch];
  for (int taken = 0, count = 1; count > 0 && taken < most; taken += count) {
    count = ibv_poll_cq(cq, batch, wcs);
    for (int i = 0; i < count; ++i) take(wcs[i]);
  }
}

}  // namespace fabricgate::fabric
