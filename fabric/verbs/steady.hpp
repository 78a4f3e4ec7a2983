#pragma once
/// The steady part of a run: from one completion to another, both well inside. Fed numbers and times, so it knows no
/// clock.
#include <cstdint>

namespace fabricgate::fabric {

struct SteadyMark {
  double time_s = 0, cpu_s = 0;
  std::uint64_t messages = 0;
};

/// What counts, over all queue pairs of one end.
struct SteadyLimits {
  std::uint64_t from_messages = 0, to_messages = 0;  ///< when to_messages > 0
  double margin_s = 0, seconds = 0;                  ///< else
};

class SteadyPart {
 public:
  /// `start`: before the first message.
  SteadyPart(const SteadyLimits& limits, const SteadyMark& start);

  /// The number of messages from which on it must be asked whether a mark is due.
  std::uint64_t next() const { return next_; }
  bool due(double time_s) const { return limits_.to_messages > 0 || time_s >= due_s_; }
  void take(const SteadyMark& now);
  /// True when the last margin is over too: for a time; a run of so many messages ends by itself.
  bool over() const { return over_; }

  /// Both marks were met.
  bool whole() const { return ended_; }
  const SteadyMark& begin() const { return begin_; }
  const SteadyMark& end() const { return end_; }

 private:
  SteadyLimits limits_;
  SteadyMark begin_, end_;
  bool begun_ = false, ended_ = false, over_ = false;
  std::uint64_t next_ = 0;
  double due_s_ = 0;  ///< when the next mark is, of a run for a time
};

}  // namespace fabricgate::fabric
