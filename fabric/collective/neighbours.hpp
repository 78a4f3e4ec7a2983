#pragma once
/// Whom one participant talks to on one rail: its neighbours in the ring and its partners of recursive doubling.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/ucx/ucx_rail.hpp"

namespace fabricgate::fabric {

/// Recursive doubling over n participants, n any number: the first 2·(n − p) participants (p = largest power of two ≤
/// n) fold in pairs first, the even one waits for the result.
struct Doubling {
  explicit Doubling(int participants);
  int rounds = 0;  ///< log2 p
  int extra = 0;   ///< n − p
  bool folds(int self) const { return self < 2 * extra; }
  /// Number among the p that take part, -1 for one that waits.
  int number(int self) const;
  /// Participant with this number.
  int participant(int number) const { return number < extra ? 2 * number + 1 : number + extra; }
  int partner(int self, int round) const { return participant(number(self) ^ (1 << round)); }
};

/// Without duplicates.
std::vector<int> neighbours_of(int self, int participants);

/// Connections and limits of one participant on one rail. Belongs to one thread while running.
class Neighbours {
 public:
  struct Setup {
    int self = 0;
    std::vector<std::string> hosts;      ///< by participant
    std::vector<std::string> addresses;  ///< by participant, on this rail
    std::string rail;
    double connect_s = 10, stall_s = 5;
  };

  static Result<std::unique_ptr<Neighbours>> connect(UcxRail& rail, Setup setup, Deadline deadline);

  int self() const { return setup_.self; }
  int size() const { return static_cast<int>(setup_.hosts.size()); }
  /// What goes to `peer`, and what comes from it. Two participants are each other's next and previous in the ring, and
  /// so have a connection for each direction: over one, UCX 1.13 moves large messages one way at a time (a ring of two
  /// reached half of its rails' rate).
  UcxChannel& to(int peer) { return back_ && self() == 1 ? *back_ : *channels_.at(peer); }
  UcxChannel& from(int peer) { return back_ && self() == 0 ? *back_ : *channels_.at(peer); }
  /// Memory and transfers that outlive every channel's use of them.
  std::byte* memory(std::size_t bytes) { return channels_.begin()->second->memory(bytes); }
  Transfer& transfer() { return channels_.begin()->second->transfer(); }

  /// Waits for a transfer with `peer`; the error names peer, rail and how far we got.
  Status wait(int peer, const Transfer& transfer);
  /// Transfers finished until now.
  std::int64_t progress() const { return progress_; }
  /// Whose transfer did not end; empty: none.
  const std::string& waited_for() const { return waited_for_; }

 private:
  Neighbours(Setup setup, Deadline deadline) : setup_(std::move(setup)), deadline_(deadline) {}
  Status open(UcxRail& rail, int peer, std::unique_ptr<UcxChannel>& channel, int first_mark);

  Setup setup_;
  Deadline deadline_;
  std::map<int, std::unique_ptr<UcxChannel>> channels_;
  std::unique_ptr<UcxChannel> back_;  ///< of two participants: from the second to the first
  std::int64_t progress_ = 0;
  std::string waited_for_;
};

}  // namespace fabricgate::fabric
