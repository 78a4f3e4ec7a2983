#include "fabric/verbs/sender.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fabric/thread_cpu.hpp"
#include "fabric/verbs/returns.hpp"
#include "results/deadline.hpp"

namespace fabricgate::fabric {
namespace {

constexpr int batch = 16;  // completions per poll
constexpr std::uint64_t without_end = std::uint64_t{1} << 62;

ibv_wr_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::write:
      return IBV_WR_RDMA_WRITE;
    case Operation::write_imm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::read:
      return IBV_WR_RDMA_READ;
    case Operation::send:
      return IBV_WR_SEND;
  }
  return IBV_WR_RDMA_WRITE;
}

std::uint64_t whole_lists(std::uint64_t messages, std::uint64_t list) {
  return (messages + list - 1) / list * list;
}

SteadyLimits limits_of(const VerbsPlan& plan, const VerbsStep& step) {
  if (step.messages == 0) return {.margin_s = step.margin_s, .seconds = step.seconds};
  const std::uint64_t all = whole_lists(step.messages, plan.post_list);
  return {.from_messages = plan.qps * step.margin_messages, .to_messages = plan.qps * (all - step.margin_messages)};
}

double now_s() {
  return std::chrono::duration<double>(Deadline::Clock::now().time_since_epoch()).count();
}

}  // namespace

SteadyMark mark_now(std::uint64_t messages) {
  return {.time_s = now_s(), .cpu_s = thread_cpu_s(), .messages = messages};
}

Sender::Sender(const Endpoint& endpoint, const EndInfo& peer, const VerbsStep& step)
    : endpoint_(endpoint),
      layout_(layout_of(endpoint.plan(), step)),
      opcode_(opcode_of(step.operation)),
      list_(endpoint.plan().post_list),
      depth_(endpoint.plan().depth),
      moderation_(std::min(whole_lists(endpoint.plan().moderation, list_), depth_ / list_ * list_)),
      steady_(limits_of(endpoint.plan(), step), mark_now(0)) {
  make_ring(peer, step);
  start_lanes(step);
}

void Sender::make_ring(const EndInfo& peer, const VerbsStep& step) {
  const std::uint64_t length = std::lcm(layout_.slots, list_), qps = endpoint_.plan().qps;
  const bool reads = step.operation == Operation::read;
  const bool in_line = !reads && step.bytes <= std::min(endpoint_.plan().inline_bytes, endpoint_.max_inline());
  sges_.resize(qps * length);
  ring_.resize(qps * length);
  for (std::uint64_t i = 0; i < ring_.size(); ++i) {
    const std::uint64_t qp = i / length, slot = i % length % layout_.slots;
    const std::uint64_t here = reads ? layout_.rx(qp, slot) : layout_.tx(qp, slot);
    const std::uint64_t there = reads ? layout_.tx(qp, slot) : layout_.rx(qp, slot);
    sges_[i] = {reinterpret_cast<std::uint64_t>(endpoint_.memory(here)), static_cast<std::uint32_t>(step.bytes),
                endpoint_.lkey()};
    ibv_send_wr& wr = ring_[i];
    wr = {};
    wr.wr_id = qp;
    wr.sg_list = &sges_[i];
    wr.num_sge = 1;
    wr.opcode = opcode_;
    wr.send_flags = in_line ? IBV_SEND_INLINE : 0;
    wr.wr.rdma.remote_addr = peer.address + there;
    wr.wr.rdma.rkey = peer.rkey;
    wr.next = (i + 1) % list_ == 0 ? nullptr : &ring_[i + 1];
  }
}

void Sender::start_lanes(const VerbsStep& step) {
  const std::uint64_t qps = endpoint_.plan().qps, length = ring_.size() / qps;
  for (std::uint64_t qp = 0; qp < qps; ++qp) {
    ibv_send_wr* const begin = ring_.data() + qp * length;
    lanes_.push_back({.qp = endpoint_.qp(qp),
                      .begin = begin,
                      .next = begin,
                      .end = begin + length,
                      .signal_at = moderation_,
                      .total = step.messages == 0 ? without_end : whole_lists(step.messages, list_)});
  }
  total_ = step.messages == 0 ? without_end : qps * lanes_[0].total;
}

void Sender::mark_last(ibv_send_wr& wr) const {
  if (opcode_ != IBV_WR_SEND && opcode_ != IBV_WR_RDMA_WRITE_WITH_IMM) return;
  wr.imm_data = htonl(last_message);
  wr.opcode = opcode_ == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM : opcode_;
}

inline void Sender::post(Lane& lane) {
  while (lane.posted < lane.total && lane.posted - lane.completed + list_ <= depth_) {
    ibv_send_wr* const first = lane.next;
    ibv_send_wr& last = first[list_ - 1];
    lane.next = first + list_ == lane.end ? lane.begin : first + list_;
    lane.posted += list_;
    last.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
    if (lane.posted >= lane.signal_at || lane.posted >= lane.total) {
      last.send_flags |= IBV_SEND_SIGNALED;
      lane.signal_at = lane.posted + moderation_;
      if (lane.posted >= lane.total) mark_last(last);
    }
    ibv_send_wr* refused = nullptr;
    if (const int returned = ibv_post_send(lane.qp, first, &refused); returned != 0) [[unlikely]] {
      post_failure_ = check_errno_result(VerbsCall::post_send, endpoint_.text(first->wr_id), returned);
      return;
    }
  }
}

inline void Sender::take(const ibv_wc& wc) {
  if (wc.status != IBV_WC_SUCCESS) [[unlikely]] {
    bad_.take(wc);
    return;
  }
  Lane& lane = lanes_[wc.wr_id];
  const std::uint64_t newly = std::min(moderation_, lane.posted - lane.completed);
  lane.completed += newly;
  completed_ += newly;
}

int Sender::move() {
  for (Lane& lane : lanes_) post(lane);
  if (post_failure_) [[unlikely]]
    return 0;
  ibv_wc wcs[batch];
  const int count = ibv_poll_cq(endpoint_.send_cq(), batch, wcs);
  for (int i = 0; i < count; ++i) take(wcs[i]);
  if (count < 0) [[unlikely]]
    post_failure_ = check_minus_one(VerbsCall::poll_cq, "send queue", count);
  if (!bad_.none()) [[unlikely]]
    bad_.drain(endpoint_.send_cq());
  if (count > 0 && completed_ >= steady_.next() && steady_.due(now_s())) note_mark();
  return count;
}

void Sender::note_mark() {
  steady_.take(mark_now(completed_));
  if (steady_.over() && !ending_) end_soon();
}

/// One more list on every queue pair tells the receiver that it was the last.
void Sender::end_soon() {
  ending_ = true;
  total_ = 0;
  for (Lane& lane : lanes_) total_ += lane.total = lane.posted + list_;
}

Failed Sender::failure() const {
  if (post_failure_ || bad_.none()) return post_failure_;
  auto failure = completion_failure(bad_.first(), endpoint_.text(bad_.first().wr_id));
  failure.echoes = bad_.echoes();
  return failure;
}

void Sender::report(VerbsFlow& flow) const {
  if (!steady_.whole()) return;
  flow.messages = steady_.end().messages - steady_.begin().messages;
  flow.elapsed_s = steady_.end().time_s - steady_.begin().time_s;
  flow.cpu_s = steady_.end().cpu_s - steady_.begin().cpu_s;
  if (flow.elapsed_s > 0) flow.bytes_per_s = static_cast<double>(flow.messages * layout_.bytes) / flow.elapsed_s;
}

std::uint64_t Sender::slots_used() const {
  std::uint64_t fewest = layout_.slots;
  for (const Lane& lane : lanes_) fewest = std::min(fewest, lane.posted);
  return fewest;
}

}  // namespace fabricgate::fabric
