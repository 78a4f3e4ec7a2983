#pragma once
/// What came of a train of numbered frames, told by the receiver alone.
#include <cstdint>
#include <vector>

namespace fabricgate::fabric {

/// Frames are numbered 0 … frames − 1. Order does not matter: a late frame is not a lost one.
class SequenceCount {
 public:
  explicit SequenceCount(std::uint32_t frames) : seen_(frames) {}

  /// False for a number that is not of this train; it is not counted.
  bool note(std::uint32_t sequence);
  /// Different frames that arrived.
  std::uint64_t received() const { return received_; }
  /// Frames that arrived more than once, each further time.
  std::uint64_t repeated() const { return repeated_; }
  /// One above the highest number seen, 0 at first.
  std::uint32_t reached() const { return reached_; }
  bool complete() const { return received_ == seen_.size(); }

 private:
  std::vector<bool> seen_;
  std::uint64_t received_ = 0, repeated_ = 0;
  std::uint32_t reached_ = 0;
};

}  // namespace fabricgate::fabric
