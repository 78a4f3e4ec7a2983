#pragma once
/// Lets threads of one rank swap texts with threads of a peer over a Rendezvous that one thread alone may use.
///
/// Threads have a lane each, the same at both ends. The owner of the Rendezvous calls carry(), at both ends, and
/// swaps bundles of what the threads of either end have said meanwhile: not one lane after the other, because which
/// lane has something to say is another one at either end.
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fabric/rendezvous.hpp"

namespace fabricgate::fabric {

class Relay {
 public:
  /// Lanes 0 to `lanes` - 1. The peer calls with the same tag and number.
  Relay(Rendezvous& below, int peer, int tag, int lanes) : below_(below), peer_(peer), tag_(tag), lanes_(lanes) {}

  /// Returns when every lane is closed at both ends; earlier, with an error that each exchange then has too, when the
  /// peer says nothing for `silence_s`.
  Status carry(double silence_s, Deadline deadline);

  /// For the thread of the lane. Errors: timeout; unavailable: the peer has closed the lane.
  Result<std::string> exchange(int lane, const std::string& mine, Deadline deadline);
  /// The lane has no more to say. Each must be closed, whatever its thread came to.
  void close(int lane);

 private:
  using Lines = std::map<int, std::vector<std::string>>;  // texts by lane, in order

  bool all_closed() const { return static_cast<int>(closed_.size()) == lanes_; }
  std::string pack();
  Status unpack(const std::string& text);
  Status swap(double silence_s, Deadline deadline, bool& over);

  Rendezvous& below_;
  const int peer_, tag_, lanes_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  Lines out_, in_;
  std::set<int> closed_, closed_by_peer_;
  Status broken_;
};

/// What the thread of a lane sees of it: exchange with the peer, and nothing else.
class RelayLane final : public Rendezvous {
 public:
  RelayLane(Relay& relay, int lane) : relay_(relay), lane_(lane) {}
  ~RelayLane() override { relay_.close(lane_); }
  RelayLane(const RelayLane&) = delete;
  RelayLane& operator=(const RelayLane&) = delete;

  int rank() const override { return 0; }
  int size() const override { return 2; }
  Result<std::vector<std::optional<std::string>>> gather(const std::string& mine, Deadline deadline) override;
  Result<std::string> broadcast(const std::string& text, Deadline deadline) override;
  Result<std::string> exchange(int peer, int tag, const std::string& mine, Deadline deadline) override;

 private:
  Relay& relay_;
  const int lane_;
};

}  // namespace fabricgate::fabric
