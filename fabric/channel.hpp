#pragma once
/// Two ends that send each other messages: the one thing a measurement needs of an engine. Implemented by fabric/ucx (a
/// rail) and fabric/tcp (the management network); the measurement itself (fabric/round) knows no engine.
///
/// A Channel belongs to one thread at a time. Messages of one lane arrive in the order in which they were sent and fill
/// the receives of that lane in the order in which these were posted; both sides know the sizes.
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

enum class Lane : unsigned char { data = 1, control = 2 };

/// One send or receive. Reusable once it is not busy.
struct Transfer {
  enum class State { idle, busy, done, failed };
  State state = State::idle;
  std::string error;        ///< set when failed
  std::size_t bytes = 0;    ///< expected length of a receive
  void* request = nullptr;  ///< the engine's own

  bool busy() const { return state == State::busy; }
};

/// How long progress() keeps the processor before it sleeps, and how long it may sleep.
struct Patience {
  double spin_s = 0;
  double sleep_s = 0.02;
};

class Channel {
 public:
  virtual ~Channel() = default;

  /// Buffers and transfer stay untouched until the transfer is not busy. The status is that of the channel.
  virtual Status send(Lane lane, const void* data, std::size_t bytes, Transfer& transfer) = 0;
  virtual Status receive(Lane lane, void* data, std::size_t bytes, Transfer& transfer) = 0;
  /// Moves transfers on; sleeps when there is nothing to do. An error is final: the peer is gone.
  virtual Status progress(Patience patience) = 0;

  /// A transfer and memory that live as long as the engine may touch them, even after a failure.
  Transfer& transfer();
  std::byte* memory(std::size_t bytes);

 protected:
  /// What late completions may still write to.
  struct Keep {
    std::deque<Transfer> transfers;
    std::vector<std::unique_ptr<std::byte[]>> memory;
  };
  std::shared_ptr<Keep> keep_ = std::make_shared<Keep>();
};

}  // namespace fabricgate::fabric
