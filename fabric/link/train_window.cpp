#include "fabric/link/train_window.hpp"

#include <algorithm>

namespace fabricgate::fabric {

bool TrainWindow::may_send() const {
  return !over_ && next_ < pace_.frames && on_the_way() < (heard_ ? pace_.window : 1);
}

void TrainWindow::sent(double now_s) {
  ++next_;
  moved_s_ = now_s;
}

void TrainWindow::answered(std::uint32_t reached, double now_s) {
  if (reached > next_) return;  // not of this train
  heard_ = true;
  heard_s_ = moved_s_ = now_s;
  stall_ = 1;
  settled_ = std::max(settled_, reached);
}

void TrainWindow::tick(double now_s) {
  if (now_s - heard_s_ > pace_.patience_s && on_the_way() > 0 && next_ < pace_.frames) over_ = true;
  if (on_the_way() == 0 || now_s - moved_s_ < pace_.stall_s * stall_) return;
  settled_ = next_;
  stall_ *= 2;
  moved_s_ = now_s;
}

}  // namespace fabricgate::fabric
