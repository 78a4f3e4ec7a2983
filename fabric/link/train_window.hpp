#pragma once
/// How fast a train of frames may go: never more than a few frames on the way, so that no queue of the path overflows
/// by the train itself, whatever its rate. Pure: the caller says what time it is.
#include <cstdint>

namespace fabricgate::fabric {

struct TrainPace {
  std::uint32_t frames = 256;
  std::uint32_t window = 8;  ///< frames on the way; 8 of 9000 bytes fit into the buffers of any switch
  double stall_s = 0.05;     ///< silence after which frames on the way are taken as lost; doubled each time in a row
  double patience_s = 2;     ///< silence after which the train ends early
};

/// The sender's side. Answers carry one above the highest number that arrived, so frames passed over do not hold it up.
/// One frame goes alone until the first answer: the path may still have to be resolved.
class TrainWindow {
 public:
  TrainWindow(const TrainPace& pace, double now_s) : pace_(pace), heard_s_(now_s), moved_s_(now_s) {}

  bool may_send() const;
  std::uint32_t next() const { return next_; }
  void sent(double now_s);
  void answered(std::uint32_t reached, double now_s);
  /// Gives up waiting for what is on the way when nothing was heard for too long.
  void tick(double now_s);
  /// Nothing more is sent: everything is, and is answered or waited for, or nobody answers at all.
  bool finished() const { return over_ || (next_ == pace_.frames && on_the_way() == 0); }
  /// Ended before all frames were sent.
  bool given_up() const { return over_; }

 private:
  std::uint32_t on_the_way() const { return next_ > settled_ ? next_ - settled_ : 0; }

  TrainPace pace_;
  double heard_s_, moved_s_;
  double stall_ = 1;  // factor
  std::uint32_t next_ = 0, settled_ = 0;
  bool heard_ = false, over_ = false;
};

}  // namespace fabricgate::fabric
