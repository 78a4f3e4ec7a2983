#pragma once
/// AllReduce (sum of floats, in place) on one rail.
///
/// Ring: 2(n−1) steps; in step k participant r sends chunk r−k to the next and receives chunk r−k−1 from the one
/// before, adding in the first n−1 steps, replacing in the others. A chunk travels in segments: a segment is added and
/// passed on while the next one arrives. Recursive doubling: log2 n exchanges of the whole with ever farther partners.
#include "fabric/collective/neighbours.hpp"
#include "fabric/collective/order.hpp"
#include "fabric/collective/summary.hpp"

namespace fabricgate::fabric {

/// The part of the data that travels over one rail.
struct Slice {
  float* data = nullptr;
  float* staging = nullptr;  ///< staging_elements(count, n) floats
  std::size_t count = 0;
};

/// Enough for either algorithm.
std::size_t staging_elements(std::size_t count, int participants);

/// Transfers reused from call to call.
class AllReduce {
 public:
  explicit AllReduce(Neighbours& neighbours) : neighbours_(neighbours) {}

  Status run(Algorithm algorithm, const Slice& slice);
  /// Returns when every participant has called it.
  Status barrier();
  /// Payload of both until now.
  const RailBytes& moved() const { return moved_; }

 private:
  struct Piece {
    std::size_t first = 0, count = 0;
  };
  struct Ring;

  Status ring(const Slice& slice);
  Status doubling(const Slice& slice);
  Status swap(int peer, const Slice& slice, bool sends, bool receives, float* into);
  Transfer& numbered(std::vector<Transfer*>& pool, std::size_t index);
  static std::vector<Piece> pieces_of(std::size_t count, int participants, int chunk);

  Neighbours& neighbours_;
  std::vector<Transfer*> sends_[2], receives_[2];
  float* barrier_words_ = nullptr;
  RailBytes moved_;
};

}  // namespace fabricgate::fabric
