#pragma once
/// What two ends do over their queue pairs, as both know it before they begin.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/verbs/verbs_sample.hpp"

namespace fabricgate::fabric {

/// One measurement. Bandwidth runs for a number of messages or for a time, and counts only what lies between two
/// margins.
struct VerbsStep {
  Operation operation = Operation::write;
  bool latency = false;  ///< ping-pong of write or send, one queue pair
  std::uint64_t bytes = 65536;
  bool both = false;                  ///< bandwidth: both directions at once, else one after the other
  bool a_to_b = true, b_to_a = true;  ///< bandwidth, not both at once: which of them
  std::uint64_t messages = 0;         ///< per queue pair, or round trips; 0: for a time
  std::uint64_t margin_messages = 0;  ///< per queue pair, not counted, at either end
  double seconds = 0;                 ///< counted, when messages is 0
  double margin_s = 0;                ///< not counted, at either end
};

struct VerbsPlan {
  std::vector<VerbsStep> steps;
  std::uint64_t qps = 1;
  std::uint64_t depth = 128;         ///< work requests posted and not completed, per queue pair
  std::uint64_t post_list = 1;       ///< work requests per ibv_post_send
  std::uint64_t moderation = 100;    ///< messages per completion, at most depth; rounded up to whole lists
  std::uint64_t inline_bytes = 0;    ///< messages up to this size travel in the work request
  std::uint64_t cycle_bytes = 4096;  ///< each queue pair goes round in so much memory, at least one message
  int timeout = 18;                  ///< of an acknowledgement: 4.096 us * 2^timeout; 18 is 1.07 s
  int retries = 6;                   ///< not 7: soft RDMA takes that for "without end"
  double stall_s = 20;               ///< a step ends when nothing completes for so long; must outlast the retries
};

/// "write, 65536 bytes, 2 qps"
std::string step_text(const VerbsPlan& plan, const VerbsStep& step);

/// Steps and numbers that fit each other. Kind parse, naming the value.
Status check_plan(const VerbsPlan& plan);

/// Where the messages of one step lie. Every queue pair has two areas of `area` bytes, one to send from and one to
/// receive into; in each of them `slots` messages (a power of two), `stride` apart. Message m is in slot m modulo slots
/// at both ends.
struct Layout {
  std::uint64_t bytes = 0, stride = 0, slots = 0, area = 0;

  std::uint64_t tx(std::uint64_t qp, std::uint64_t slot) const { return 2 * qp * area + slot * stride; }
  std::uint64_t rx(std::uint64_t qp, std::uint64_t slot) const { return (2 * qp + 1) * area + slot * stride; }
};
Layout layout_of(const VerbsPlan& plan, const VerbsStep& step);
/// Of all areas together.
std::uint64_t memory_bytes(const VerbsPlan& plan);

}  // namespace fabricgate::fabric
