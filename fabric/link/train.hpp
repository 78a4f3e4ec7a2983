#pragma once
/// Are frames lost on a rail, and in which direction? Two nodes send each other a counted train of frames of the
/// declared MTU on every rail they share; each counts what it got, so that sending and receiving are told apart.
#include <functional>
#include <string>
#include <vector>

#include "fabric/link/train_window.hpp"
#include "fabric/rendezvous.hpp"

namespace fabricgate::fabric {

/// One rail of the pair, seen from this end. Addresses in host byte order.
struct TrainRail {
  std::string rail, netdev;
  std::uint32_t source = 0, target = 0;
  int mtu = 0;  ///< size of the IP packets
};

struct TrainOptions {
  TrainPace pace;
  int receive_buffer_bytes = 4 << 20;
  /// Tests: frames of these numbers are taken for sent and never are.
  std::function<bool(const std::string& rail, std::uint32_t sequence)> lose = {};
};

/// What this end knows; the other half is the peer's.
struct TrainHalf {
  std::string peer, rail;
  std::uint64_t sent = 0;      ///< frames given to the interface
  std::uint64_t received = 0;  ///< different frames of the peer that arrived
  std::uint64_t repeated = 0;  ///< … that arrived once more
  std::uint64_t dropped = 0;   ///< packets this host itself threw away meanwhile
  std::string error;           ///< why nothing was counted
};

/// Both ends call it at the same time with the same rails in the same order; all rails go at once. A rail that one end
/// cannot open carries an error at both. `tag` as in Rendezvous::exchange.
std::vector<TrainHalf> run_trains(Rendezvous& rendezvous, int peer, int tag, const std::vector<TrainRail>& rails,
                                  const TrainOptions& options, Deadline deadline);

}  // namespace fabricgate::fabric
