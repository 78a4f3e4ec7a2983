#pragma once
/// Every operation that can wait takes a Deadline.
#include <algorithm>
#include <chrono>

namespace fabricgate {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline in_seconds(double seconds) {
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }
  /// The earlier of this and `seconds` from now.
  Deadline at_most(double seconds) const { return Deadline(std::min(end_, in_seconds(seconds).end_)); }

  bool passed() const { return Clock::now() >= end_; }
  /// Seconds left, never negative.
  double left_s() const { return std::max(0.0, std::chrono::duration<double>(end_ - Clock::now()).count()); }
  /// For poll(2): rounded up, never negative.
  int left_ms() const { return static_cast<int>(std::min(left_s() * 1000 + 1, 2e9)); }
  Clock::time_point end() const { return end_; }

 private:
  explicit Deadline(Clock::time_point end) : end_(end) {}
  Clock::time_point end_;
};

}  // namespace fabricgate
