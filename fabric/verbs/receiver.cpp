#include "fabric/verbs/receiver.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>

#include "fabric/verbs/returns.hpp"
#include "fabric/verbs/sender.hpp"

namespace fabricgate::fabric {
namespace {

constexpr int batch = 16;  // completions per poll
constexpr std::uint64_t longest_chain = 16;

}  // namespace

Receiver::Receiver(const Endpoint& endpoint, const VerbsStep& step) : endpoint_(endpoint) {
  make_ring(step);
}

/// The ring is as long as the queue is deep, cut to whole chains and whole rounds of slots: all of it is posted at
/// first.
void Receiver::make_ring(const VerbsStep& step) {
  const Layout layout = layout_of(endpoint_.plan(), step);
  const std::uint64_t qps = endpoint_.plan().qps, depth = endpoint_.plan().depth;
  chain_ = std::min(longest_chain, std::bit_floor(depth));
  const std::uint64_t unit = std::max(chain_, layout.slots);  // powers of two
  const std::uint64_t length = depth / unit * unit;
  sges_.resize(qps * length);
  ring_.resize(qps * length);
  for (std::uint64_t i = 0; i < ring_.size(); ++i) {
    const std::uint64_t qp = i / length, slot = i % length % layout.slots;
    sges_[i] = {reinterpret_cast<std::uint64_t>(endpoint_.memory(layout.rx(qp, slot))),
                static_cast<std::uint32_t>(step.bytes), endpoint_.lkey()};
    ring_[i] = {};
    ring_[i].wr_id = qp;
    ring_[i].sg_list = &sges_[i];
    ring_[i].num_sge = 1;
    ring_[i].next = (i + 1) % chain_ == 0 ? nullptr : &ring_[i + 1];
  }
  for (std::uint64_t qp = 0; qp < qps; ++qp) {
    ibv_recv_wr* const begin = ring_.data() + qp * length;
    lanes_.push_back({.qp = endpoint_.qp(qp), .begin = begin, .next = begin, .end = begin + length});
  }
}

Failed Receiver::fill() {
  const std::uint64_t chains = ring_.size() / lanes_.size() / chain_;
  for (Lane& lane : lanes_)
    for (std::uint64_t i = 0; i < chains && !post_failure_; ++i) post(lane);
  return post_failure_;
}

inline void Receiver::post(Lane& lane) {
  ibv_recv_wr* const first = lane.next;
  lane.next = first + chain_ == lane.end ? lane.begin : first + chain_;
  ibv_recv_wr* refused = nullptr;
  if (const int returned = ibv_post_recv(lane.qp, first, &refused); returned != 0) [[unlikely]]
    post_failure_ = check_errno_result(VerbsCall::post_recv, endpoint_.text(first->wr_id), returned);
}

inline void Receiver::take(const ibv_wc& wc) {
  if (wc.status != IBV_WC_SUCCESS) [[unlikely]] {
    bad_.take(wc);
    return;
  }
  Lane& lane = lanes_[wc.wr_id];
  ++messages_;
  if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0 && ntohl(wc.imm_data) == last_message) ++last_;
  if (++lane.used < chain_) return;
  lane.used = 0;
  post(lane);
}

int Receiver::move() {
  ibv_wc wcs[batch];
  const int count = ibv_poll_cq(endpoint_.receive_cq(), batch, wcs);
  for (int i = 0; i < count; ++i) take(wcs[i]);
  if (count < 0) [[unlikely]]
    post_failure_ = check_minus_one(VerbsCall::poll_cq, "receive queue", count);
  if (!bad_.none()) [[unlikely]]
    bad_.drain(endpoint_.receive_cq());
  return count;
}

Failed Receiver::failure() const {
  if (post_failure_ || bad_.none()) return post_failure_;
  auto failure = completion_failure(bad_.first(), endpoint_.text(bad_.first().wr_id));
  failure.echoes = bad_.echoes();
  return failure;
}

}  // namespace fabricgate::fabric
