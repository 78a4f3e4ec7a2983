#pragma once
/// The two ends of a stream (method: stream.hpp), as state machines: whoever runs one calls progress() of the channel
/// and step() in turn, so that both can run over one channel at once.
#include <vector>

#include "fabric/round/stream.hpp"
#include "fabric/round/window.hpp"

namespace fabricgate::fabric {

struct StreamSlot {
  std::byte* data = nullptr;
  Transfer* transfer = nullptr;
};

/// "You may send messages below `upto`; there will be no more" when last.
struct StreamGrant {
  std::uint64_t upto = 0, last = 0;
};

class StreamReceiver {
 public:
  StreamReceiver(Channel& channel, const StreamSetup& setup, DirectionSample& direction);

  /// Posts the first window.
  Status begin();
  /// Moves what can be moved without waiting.
  Status step();
  /// True when everything granted has arrived and the sender was told that it was the last; then end() adds the
  /// SizePoint.
  bool finished() const { return last_ && received_ >= granted_ && announced_last_ && !grant_sent_.busy(); }
  void end();
  std::uint64_t messages() const { return received_; }

 private:
  using Clock = Deadline::Clock;

  bool full_check(std::uint64_t message) const;
  Status post();
  Status announce();
  Status take_all();
  void count(Clock::time_point now);
  void check(const StreamSlot& slot);

  Channel& channel_;
  const StreamSetup& setup_;
  DirectionSample& direction_;
  const std::uint64_t window_;
  std::vector<StreamSlot> slots_;
  StreamGrant* grant_;
  Transfer& grant_sent_;
  std::uint64_t granted_ = 0, announced_ = 0, received_ = 0;
  double longest_gap_s_ = 0;
  bool last_ = false, announced_last_ = false, measuring_ = false;
  Clock::time_point first_, end_;
  std::vector<Mark> warmup_;
  Mark start_, cut_;
};

class StreamSender {
 public:
  StreamSender(Channel& channel, const StreamSetup& setup);

  /// Fills the messages and listens for the first grant.
  Status begin();
  /// Moves what can be moved without waiting.
  Status step();
  bool finished() const;
  std::uint64_t messages() const { return sent_; }

 private:
  Status listen();
  Status take_grant();
  Status send_granted();

  Channel& channel_;
  const StreamSetup& setup_;
  const std::uint64_t window_;
  std::vector<StreamSlot> slots_;
  StreamGrant* grant_;
  Transfer& granted_;
  std::uint64_t upto_ = 0, sent_ = 0;
  bool last_ = false;
};

}  // namespace fabricgate::fabric
