#include "fabric/verbs/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "fabric/verbs/completions.hpp"
#include "fabric/verbs/returns.hpp"

namespace fabricgate::fabric {
namespace {

constexpr int access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr int most_reads = 255;               // the attribute has 8 bits; adapters take 16, soft RDMA 128
constexpr std::uint8_t rnr_timer = 12;        // 0.64 ms until a receiver that was not ready is asked again
constexpr std::uint8_t rnr_retries = 7;       // without end: the stall limit ends it
constexpr std::uint8_t hops = 64;             // the usual time to live
constexpr std::uint32_t psn_mask = 0xffffff;  // 24 bits

ibv_mtu mtu_of(std::uint64_t bytes) {
  return static_cast<ibv_mtu>(std::bit_width(bytes) - 8);
}

ibv_ah_attr path_to(const Port& port, const EndInfo& peer, const ibv_gid& gid) {
  ibv_ah_attr path{};
  path.port_num = static_cast<std::uint8_t>(port.name.port);
  path.dlid = static_cast<std::uint16_t>(peer.lid);
  if (port.name.gid_index < 0) return path;
  path.is_global = 1;
  path.grh.dgid = gid;
  path.grh.sgid_index = static_cast<std::uint8_t>(port.name.gid_index);
  path.grh.hop_limit = hops;
  return path;
}

}  // namespace

std::string Endpoint::text(std::size_t index) const {
  return fmt::format("{}, qp {:#x}", port_.text(), qps_[index]->qp_num);
}

Failed Endpoint::open(const PortName& name, const VerbsPlan& plan) {
  plan_ = plan;
  if (auto failed = open_port(name, port_)) return failed;
  if (auto failed = register_memory()) return failed;
  if (auto failed = create_queues()) return failed;
  for (std::uint64_t i = 0; i < plan_.qps; ++i)
    if (auto failed = create_qp()) return failed;
  describe();
  return std::nullopt;
}

Failed Endpoint::register_memory() {
  errno = 0;
  pd_.reset(ibv_alloc_pd(port_.context.get()));
  if (auto failed = check_pointer(VerbsCall::alloc_pd, port_.text(), pd_.get())) return failed;
  const std::size_t bytes = memory_bytes(plan_);
  if (auto failed = memory_.allocate(bytes, port_.numa_node)) return failed;
  errno = 0;
  mr_.reset(ibv_reg_mr(pd_.get(), memory_.data(), bytes, access_flags));
  return check_pointer(VerbsCall::reg_mr, fmt::format("{}, {} bytes of {}", port_.text(), bytes, memory_.description()),
                       mr_.get());
}

Failed Endpoint::create_queues() {
  const int entries = static_cast<int>(plan_.qps * plan_.depth);
  const std::string object = fmt::format("{}, {} entries", port_.text(), entries);
  for (auto* cq : {&send_cq_, &receive_cq_}) {
    errno = 0;
    cq->reset(ibv_create_cq(port_.context.get(), entries, nullptr, nullptr, 0));
    if (auto failed = check_pointer(VerbsCall::create_cq, object, cq->get())) return failed;
  }
  return std::nullopt;
}

Failed Endpoint::create_qp() {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_cq_.get();
  attributes.recv_cq = receive_cq_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = static_cast<std::uint32_t>(plan_.depth);
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = static_cast<std::uint32_t>(plan_.inline_bytes);
  errno = 0;
  qps_.emplace_back(ibv_create_qp(pd_.get(), &attributes));
  max_inline_ = attributes.cap.max_inline_data;  // may be more than was asked for
  return check_pointer(VerbsCall::create_qp,
                       fmt::format("{}, depth {}, {} bytes inline", port_.text(), plan_.depth, plan_.inline_bytes),
                       qps_.back().get());
}

void Endpoint::describe() {
  info_.end = {.device = port_.name.device,
               .port = port_.name.port,
               .link_layer = link_layer_text(port_.attributes),
               .gid_index = port_.name.gid_index,
               .gid = gid_text(port_.gid),
               .mtu_bytes = mtu_bytes(port_.attributes.active_mtu),
               .memory = memory_.description()};
  info_.lid = port_.attributes.lid;
  info_.rd_atomic = std::min(port_.device.max_qp_rd_atom, most_reads);
  info_.address = reinterpret_cast<std::uint64_t>(memory_.data());
  info_.rkey = mr_->rkey;
  for (const auto& qp : qps_) info_.qp_numbers.push_back(qp->qp_num);
  info_.first_psn =
      (qps_.front()->qp_num * 0x9E3779B9u + info_.rkey) & psn_mask;  // another one for every set of queue pairs
}

Failed Endpoint::reset() {
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RESET;
    if (auto failed =
            check_errno_result(VerbsCall::to_reset, text(i), ibv_modify_qp(qps_[i].get(), &attributes, IBV_QP_STATE)))
      return failed;
  }
  // not every provider takes a queue pair's completions away with it
  BadCompletions ignored;
  for (ibv_cq* cq : {send_cq_.get(), receive_cq_.get()}) ignored.drain(cq);
  return to_init();
}

Failed Endpoint::to_init() {
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.pkey_index = 0;
    attributes.port_num = static_cast<std::uint8_t>(port_.name.port);
    attributes.qp_access_flags = access_flags;
    const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    if (auto failed = check_errno_result(VerbsCall::to_init, text(i), ibv_modify_qp(qps_[i].get(), &attributes, mask)))
      return failed;
  }
  return std::nullopt;
}

Failed Endpoint::to_rtr(std::size_t index, const EndInfo& peer) {
  const auto gid = parse_gid_text(peer.end.gid);
  if (!gid) return VerbsFailure{.cause = "rdma.call_failed", .what = gid.error().what};
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_of(path_mtu(info_, peer));
  attributes.dest_qp_num = peer.qp_numbers[index];
  attributes.rq_psn = peer.first_psn;
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(info_.rd_atomic);
  attributes.min_rnr_timer = rnr_timer;
  attributes.ah_attr = path_to(port_, peer, *gid);
  const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return check_errno_result(VerbsCall::to_rtr,
                            fmt::format("{}, GID index {}, to GID {}", text(index), port_.name.gid_index, peer.end.gid),
                            ibv_modify_qp(qps_[index].get(), &attributes, mask));
}

Failed Endpoint::to_rts(std::size_t index, const EndInfo& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(plan_.timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(plan_.retries);
  attributes.rnr_retry = rnr_retries;
  attributes.sq_psn = info_.first_psn;
  attributes.max_rd_atomic =
      static_cast<std::uint8_t>(std::min({port_.device.max_qp_init_rd_atom, peer.rd_atomic, most_reads}));
  const int mask =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  return check_errno_result(VerbsCall::to_rts, text(index), ibv_modify_qp(qps_[index].get(), &attributes, mask));
}

Failed Endpoint::connect(const EndInfo& peer) {
  if (peer.qp_numbers.size() != qps_.size())
    return VerbsFailure{
        .cause = "rdma.call_failed",
        .what = fmt::format("the peer has {} queue pairs, expected {}", peer.qp_numbers.size(), qps_.size())};
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    if (auto failed = to_rtr(i, peer)) return failed;
    if (auto failed = to_rts(i, peer)) return failed;
  }
  return std::nullopt;
}

}  // namespace fabricgate::fabric
