#pragma once
/// The end that posts: keeps every queue pair full until its messages are out, and notes the steady part.
///
/// All work requests are made beforehand, as a ring of lists per queue pair; posting one is a call, a few stores and no
/// arithmetic on addresses. One message in `moderation` asks for a completion, which stands for all before it. The last
/// message of a queue pair carries immediate data where the operation can, so that the receiver knows that it was the
/// last.
#include <cstdint>
#include <vector>

#include "fabric/verbs/completions.hpp"
#include "fabric/verbs/endpoint.hpp"
#include "fabric/verbs/steady.hpp"

namespace fabricgate::fabric {

/// Immediate data of the last message of a queue pair.
inline constexpr std::uint32_t last_message = 1;

/// Seconds, and processor seconds of this thread.
SteadyMark mark_now(std::uint64_t messages);

class Sender {
 public:
  Sender(const Endpoint& endpoint, const EndInfo& peer, const VerbsStep& step);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Posts what fits and takes completions; how many completions came.
  int move();
  bool finished() const { return completed_ >= total_; }
  /// From what is not good on, move() must not be called again.
  Failed failure() const;
  bool good() const { return bad_.none() && !post_failure_; }

  /// Adds rate, messages and times of the steady part. Zeros when it was not met.
  void report(VerbsFlow& flow) const;
  /// Slots of a queue pair that hold a message now.
  std::uint64_t slots_used() const;

 private:
  /// One queue pair.
  struct Lane {
    ibv_qp* qp = nullptr;
    ibv_send_wr *begin = nullptr, *next = nullptr, *end = nullptr;
    std::uint64_t posted = 0, completed = 0, signal_at = 0, total = 0;
  };

  void make_ring(const EndInfo& peer, const VerbsStep& step);
  void start_lanes(const VerbsStep& step);
  void post(Lane& lane);
  void mark_last(ibv_send_wr& wr) const;
  void take(const ibv_wc& wc);
  void note_mark();
  void end_soon();

  const Endpoint& endpoint_;
  const Layout layout_;
  const ibv_wr_opcode opcode_;
  const std::uint64_t list_, depth_, moderation_;
  std::vector<ibv_sge> sges_;
  std::vector<ibv_send_wr> ring_;
  std::vector<Lane> lanes_;
  std::uint64_t completed_ = 0, total_ = 0;
  SteadyPart steady_;
  bool ending_ = false;
  BadCompletions bad_;
  Failed post_failure_;
};

}  // namespace fabricgate::fabric
