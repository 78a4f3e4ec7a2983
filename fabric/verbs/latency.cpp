#include "fabric/verbs/latency.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "fabric/verbs/returns.hpp"

namespace fabricgate::fabric {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(std::max<std::size_t>(rank, 1), sorted.size()) - 1];
}

double now_s() {
  return std::chrono::duration<double>(Deadline::Clock::now().time_since_epoch()).count();
}

}  // namespace

VerbsLatency latency_of(const std::vector<double>& stamps_s, const VerbsStep& step) {
  VerbsLatency latency{.operation = step.operation, .bytes = step.bytes};
  std::vector<double> halves;
  for (std::size_t i = stamps_s.size() / 10 + 1; i < stamps_s.size(); ++i)
    halves.push_back((stamps_s[i] - stamps_s[i - 1]) / 2);
  if (halves.empty()) return latency;
  std::sort(halves.begin(), halves.end());
  latency.iterations = halves.size();
  latency.min_s = halves.front();
  latency.mean_s = std::accumulate(halves.begin(), halves.end(), 0.0) / static_cast<double>(halves.size());
  latency.p50_s = percentile(halves, 0.5);
  latency.p90_s = percentile(halves, 0.9);
  latency.p99_s = percentile(halves, 0.99);
  latency.p999_s = percentile(halves, 0.999);
  latency.max_s = halves.back();
  return latency;
}

PingPong::PingPong(const Endpoint& endpoint, const EndInfo& peer, const VerbsStep& step, bool begins)
    : endpoint_(endpoint), step_(step), begins_(begins), receiver_(endpoint, step) {
  const Layout layout = layout_of(endpoint.plan(), step);
  out_ = endpoint.memory(layout.tx(0, 0)) + step.bytes - 1;
  in_ = endpoint.memory(layout.rx(0, 0)) + step.bytes - 1;
  sge_ = {reinterpret_cast<std::uint64_t>(endpoint.memory(layout.tx(0, 0))), static_cast<std::uint32_t>(step.bytes),
          endpoint.lkey()};
  wr_.sg_list = &sge_;
  wr_.num_sge = 1;
  wr_.opcode = step.operation == Operation::send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
  wr_.send_flags = step.bytes <= std::min(endpoint.plan().inline_bytes, endpoint.max_inline()) ? IBV_SEND_INLINE : 0;
  wr_.wr.rdma.remote_addr = peer.address + layout.rx(0, 0);
  wr_.wr.rdma.rkey = peer.rkey;
  if (begins_) stamps_s_.reserve(step.messages);
}

Failed PingPong::fill() {
  return step_.operation == Operation::send ? receiver_.fill() : std::nullopt;
}

/// One message in half a queue asks for a completion; its answer has come before the queue is full.
Failed PingPong::post(std::uint64_t number, Patrol& patrol) {
  *out_ = static_cast<std::byte>(number);
  wr_.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
  if (++since_signal_ >= endpoint_.plan().depth / 2) {
    wr_.send_flags |= IBV_SEND_SIGNALED;
    since_signal_ = 0;
  }
  while (in_flight_ >= endpoint_.plan().depth) {
    if (auto failed = reap()) return failed;
    if (!patrol.go_on(false)) return patrol.failure();
  }
  ++in_flight_;
  ibv_send_wr* refused = nullptr;
  const int returned = ibv_post_send(endpoint_.qp(0), &wr_, &refused);
  if (returned == 0) [[likely]]
    return std::nullopt;
  return check_errno_result(VerbsCall::post_send, endpoint_.text(0), returned);
}

inline bool PingPong::arrived(std::uint64_t number) {
  if (step_.operation == Operation::send) {
    (void)receiver_.move();
    return receiver_.messages() >= number;
  }
  return std::atomic_ref<std::byte>(*in_).load(std::memory_order_acquire) == static_cast<std::byte>(number);
}

Failed PingPong::reap() {
  ibv_wc wc;
  const int count = ibv_poll_cq(endpoint_.send_cq(), 1, &wc);
  if (count <= 0) return check_minus_one(VerbsCall::poll_cq, "send queue", count);
  if (wc.status == IBV_WC_SUCCESS) {
    in_flight_ -= endpoint_.plan().depth / 2;
    return std::nullopt;
  }
  bad_.take(wc);
  bad_.drain(endpoint_.send_cq());
  auto failure = completion_failure(bad_.first(), endpoint_.text(0));
  failure.echoes = bad_.echoes();
  return failure;
}

Failed PingPong::wait(std::uint64_t number, Patrol& patrol) {
  constexpr int turns_per_reap = 1024;  // without an answer, a look at whether our own message failed
  for (int turn = 1; !arrived(number); ++turn) {
    if (!receiver_.good()) return receiver_.failure();
    if (turn % turns_per_reap == 0)
      if (auto failed = reap()) return failed;
    if (!patrol.go_on(false)) return patrol.failure();
  }
  (void)patrol.go_on(true);
  return receiver_.good() ? std::nullopt : receiver_.failure();
}

Failed PingPong::run(Patrol& patrol) {
  for (std::uint64_t number = 1; number <= step_.messages; ++number) {
    if (!begins_)
      if (auto failed = wait(number, patrol)) return failed;
    if (auto failed = post(number, patrol)) return failed;
    if (!begins_) continue;
    stamps_s_.push_back(now_s());
    if (auto failed = wait(number, patrol)) return failed;
  }
  return std::nullopt;
}

}  // namespace fabricgate::fabric
