#include "fabric/collective/algorithms.hpp"

#include <algorithm>

namespace fabricgate::fabric {
namespace {

constexpr std::size_t segment_elements = std::size_t{1}
                                         << 18;  // 1 MiB: long enough to fill a link, short enough to overlap

void add(float* sum, const float* more, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) sum[index] += more[index];
}

std::size_t chunk_start(std::size_t count, int participants, int chunk) {
  return count * static_cast<std::size_t>(chunk) / static_cast<std::size_t>(participants);
}

std::size_t largest_chunk(std::size_t count, int participants) {
  return count / static_cast<std::size_t>(participants) + 1;
}

}  // namespace

std::size_t staging_elements(std::size_t count, int participants) {
  return std::max(count, 2 * largest_chunk(count, participants));
}

std::vector<AllReduce::Piece> AllReduce::pieces_of(std::size_t count, int participants, int chunk) {
  std::vector<Piece> pieces;
  const auto end = chunk_start(count, participants, chunk + 1);
  for (auto first = chunk_start(count, participants, chunk); first < end; first += segment_elements) {
    pieces.push_back({.first = first, .count = std::min(segment_elements, end - first)});
  }
  return pieces;
}

Transfer& AllReduce::numbered(std::vector<Transfer*>& pool, std::size_t index) {
  while (pool.size() <= index) pool.push_back(&neighbours_.transfer());
  return *pool[index];
}

Status AllReduce::run(Algorithm algorithm, const Slice& slice) {
  if (slice.count == 0) return {};
  return algorithm == Algorithm::ring ? ring(slice) : doubling(slice);
}

/// One run of the ring. Receiving into chunk c in the second half while c's first send is not reported done is safe:
/// what arrives was made from that send, so it has left the buffer.
struct AllReduce::Ring {
  AllReduce& owner;
  const Slice& slice;
  const int n = owner.neighbours_.size();
  const int next = (owner.neighbours_.self() + 1) % n;
  const int previous = (owner.neighbours_.self() + n - 1) % n;
  const int steps = 2 * (n - 1);

  bool adds(int step) const { return step < n - 1; }
  /// Received in `step`, and sent in the one after it.
  std::vector<Piece> pieces(int step) const {
    const int chunk = (owner.neighbours_.self() - step - 1 + 2 * n) % n;
    return pieces_of(slice.count, n, chunk);
  }
  float* target(int step, const Piece& piece, const Piece& first) const {
    if (!adds(step)) return slice.data + piece.first;
    const auto half = step % 2 == 0 ? 0 : largest_chunk(slice.count, n);
    return slice.staging + half + (piece.first - first.first);
  }

  Status post(int step) const {
    if (step >= steps) return {};
    const auto parts = pieces(step);
    for (std::size_t index = 0; index < parts.size(); ++index) {
      auto posted = owner.neighbours_.from(previous).receive(Lane::data, target(step, parts[index], parts[0]),
                                                                parts[index].count * sizeof(float),
                                                                owner.numbered(owner.receives_[step % 2], index));
      if (!posted) return posted;
    }
    return {};
  }

  /// Sends piece `index` in `step`; the transfer's last use, two steps ago, must be over.
  Status send(int step, const Piece& piece, std::size_t index) const {
    auto& transfer = owner.numbered(owner.sends_[step % 2], index);
    if (transfer.busy()) {
      if (auto done = owner.neighbours_.wait(next, transfer); !done) return done;
    }
    const std::size_t bytes = piece.count * sizeof(float);
    owner.moved_.sent += bytes;
    return owner.neighbours_.to(next).send(Lane::data, slice.data + piece.first, bytes, transfer);
  }

  Status take(int step) const {
    const auto parts = pieces(step);
    for (std::size_t index = 0; index < parts.size(); ++index) {
      const auto& piece = parts[index];
      auto arrived = owner.neighbours_.wait(previous, owner.numbered(owner.receives_[step % 2], index));
      if (!arrived) return arrived;
      owner.moved_.received += piece.count * sizeof(float);
      if (adds(step)) add(slice.data + piece.first, target(step, piece, parts[0]), piece.count);
      if (step + 1 >= steps) continue;
      if (auto sent = send(step + 1, piece, index); !sent) return sent;
    }
    return {};
  }

  Status drain() const {
    for (auto* pool : {&owner.sends_[0], &owner.sends_[1]}) {
      for (auto* transfer : *pool) {
        if (!transfer->busy()) continue;
        if (auto done = owner.neighbours_.wait(next, *transfer); !done) return done;
      }
    }
    return {};
  }
};

Status AllReduce::ring(const Slice& slice) {
  const Ring ring{.owner = *this, .slice = slice};
  if (auto posted = ring.post(0); !posted) return posted;
  const auto own = pieces_of(slice.count, ring.n, neighbours_.self());
  for (std::size_t index = 0; index < own.size(); ++index) {
    if (auto sent = ring.send(0, own[index], index); !sent) return sent;
  }
  for (int step = 0; step < ring.steps; ++step) {
    if (auto posted = ring.post(step + 1); !posted) return posted;
    if (auto taken = ring.take(step); !taken) return taken;
  }
  return ring.drain();
}

Status AllReduce::swap(int peer, const Slice& slice, bool sends, bool receives, float* into) {
  auto& received = numbered(receives_[0], 0);
  auto& sent = numbered(sends_[0], 0);
  const auto bytes = slice.count * sizeof(float);
  if (receives) {
    if (auto posted = neighbours_.from(peer).receive(Lane::data, into, bytes, received); !posted) return posted;
  }
  if (sends) {
    if (auto started = neighbours_.to(peer).send(Lane::data, slice.data, bytes, sent); !started) return started;
  }
  if (receives) {
    if (auto done = neighbours_.wait(peer, received); !done) return done;
    moved_.received += bytes;
  }
  if (sends) moved_.sent += bytes;
  return sends ? neighbours_.wait(peer, sent) : Status();
}

Status AllReduce::doubling(const Slice& slice) {
  const Doubling plan(neighbours_.size());
  const int self = neighbours_.self();
  if (plan.folds(self)) {
    const bool waits = self % 2 == 0;
    if (auto folded = swap(self ^ 1, slice, waits, !waits, slice.staging); !folded) return folded;
    if (waits) return swap(self ^ 1, slice, false, true, slice.data);
    add(slice.data, slice.staging, slice.count);
  }
  for (int round = 0; round < plan.rounds; ++round) {
    if (auto swapped = swap(plan.partner(self, round), slice, true, true, slice.staging); !swapped) return swapped;
    add(slice.data, slice.staging, slice.count);
  }
  return plan.folds(self) ? swap(self ^ 1, slice, true, false, nullptr) : Status();
}

Status AllReduce::barrier() {
  if (barrier_words_ == nullptr) barrier_words_ = reinterpret_cast<float*>(neighbours_.memory(2 * sizeof(float)));
  return doubling({.data = barrier_words_, .staging = barrier_words_ + 1, .count = 1});
}

}  // namespace fabricgate::fabric
