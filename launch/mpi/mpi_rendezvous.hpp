#pragma once
/// Rendezvous on MPI messages between a list of world ranks. No collective of MPI is used: each wait is a poll with growing
/// pauses (so that a waiting rank takes no processor from a measurement) and ends at its deadline or at an interrupt.
#include <cstdint>
#include <list>
#include <map>

#include "fabric/rendezvous.hpp"

namespace fabricgate::launch {

class MpiRendezvous final : public fabric::Rendezvous {
 public:
  /// `ranks`: world ranks, the position in the list is the rank here; the caller's own rank is among them.
  explicit MpiRendezvous(std::vector<int> ranks);
  ~MpiRendezvous() override;
  MpiRendezvous(const MpiRendezvous&) = delete;
  MpiRendezvous& operator=(const MpiRendezvous&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  Result<std::vector<std::optional<std::string>>> gather(const std::string& mine, Deadline deadline) override;
  Result<std::string> broadcast(const std::string& text, Deadline deadline) override;
  Result<std::string> exchange(int peer, int tag, const std::string& mine, Deadline deadline) override;

 private:
  /// A message belongs to one call: `epoch` counts broadcasts, `sequence` the calls of its kind since then. A late
  /// message of an earlier call is known by it and dropped.
  struct Stamp {
    std::uint64_t epoch = 0, sequence = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
    friend auto operator<=>(const Stamp&, const Stamp&) = default;
  };
  struct Message {
    Stamp stamp;
    std::string text;
  };
  struct Outgoing;

  Status send(int peer, int tag, Stamp stamp, const std::string& text, Deadline deadline);
  Status start_send(int peer, int tag, Stamp stamp, const std::string& text);
  void reap();
  Status flush(Deadline deadline);
  /// The next whole message of `peer`, or nothing at the moment.
  Result<std::optional<Message>> take(int peer, int tag);
  Result<Message> await(int peer, int tag, Stamp at_least, Deadline deadline);

  std::vector<int> ranks_;
  int rank_ = 0;
  std::uint64_t epoch_ = 0, gathers_ = 0;
  std::map<std::pair<int, int>, std::uint64_t> exchanges_;
  std::list<Outgoing> outgoing_;  ///< buffers of sends that MPI has not finished with
};

}  // namespace fabricgate::launch
