#pragma once
/// One direction, one message size, over any Channel.
///
/// The receiver rules. It posts a window of receives and tells the sender up to which message it may go (a grant, on
/// the control lane); each completed receive is posted again. So nothing arrives unexpected, at most a window is in
/// flight, and nobody needs a clock of the other. The first window of messages is checked byte by byte; then a warm-up
/// runs that counts only as far as it ran at the rate of what follows (window.hpp); then the measured window from one
/// completion to another. The receiver sees when what it
/// has granted fills the rest of the time, makes that grant the last, and the window ends with the last message: no
/// time is lost on draining. In the measured window most messages are checked at a few places, one of 61 in full.
#include <functional>
#include <string>

#include "fabric/channel.hpp"
#include "fabric/pairs/pair_sample.hpp"
#include "fabric/round/order.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {

/// For tests: what goes wrong. before_send is called before message `message` of `bytes` at `data` is sent from `host`;
/// an error ends this end's measurement; sleeping in it is a hung process.
struct RoundHooks {
  std::function<Status(const std::string& host, std::byte* data, std::size_t bytes, std::uint64_t message)> before_send = {};
  /// What the short connections that `host` dialled over a rail showed, before both ends agree on what to make of it.
  std::function<void(const std::string& host, const std::string& rail, FlowCount& dialled)> after_flows = {};
};

struct StreamSetup {
  StreamPlan plan;
  std::uint64_t seed = 0;  ///< same at both ends
  double stall_s = 4;
  std::string self, peer;  ///< node names
  std::string what;        ///< "a_to_b of rail0, 65536-byte messages", for errors
  const RoundHooks* hooks = nullptr;
};

/// Adds a SizePoint and the payload counts to `direction`. The error is that of the channel or kind timeout.
Status stream_receive(Channel& channel, const StreamSetup& setup, DirectionSample& direction, Deadline deadline);
/// Adds the bytes sent.
Status stream_send(Channel& channel, const StreamSetup& setup, DirectionSample& direction, Deadline deadline);

struct StreamEnd {
  Channel& channel;
  const StreamSetup& setup;
  DirectionSample& direction;
};
/// Both directions at once, each over a channel of its own: over one, grants would wait behind the data that goes the
/// other way, and half the rate would be all there is. The peer's `out` is our `in`.
Status stream_both(const StreamEnd& out, const StreamEnd& in, Deadline deadline);

}  // namespace fabricgate::fabric
