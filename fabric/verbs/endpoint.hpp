#pragma once
/// One end of a set of RC queue pairs, and how two ends become connected: each says what the other must know
/// (`EndInfo`, by way of the Rendezvous), then moves its queue pairs through INIT and RTR to RTS.
#include <string>
#include <vector>

#include "fabric/verbs/end_info.hpp"
#include "fabric/verbs/host_memory.hpp"
#include "fabric/verbs/plan.hpp"
#include "fabric/verbs/port.hpp"

namespace fabricgate::fabric {

/// Used by one thread. Members stand in the order in which they are made.
class Endpoint {
 public:
  [[nodiscard]] Failed open(const PortName& name, const VerbsPlan& plan);

  const EndInfo& info() const { return info_; }
  /// RESET and INIT: whatever was posted is forgotten; receives can be posted now.
  [[nodiscard]] Failed reset();
  /// RTR and RTS, towards queue pairs of a peer that is in INIT at least.
  [[nodiscard]] Failed connect(const EndInfo& peer);

  const VerbsPlan& plan() const { return plan_; }
  ibv_cq* send_cq() const { return send_cq_.get(); }
  ibv_cq* receive_cq() const { return receive_cq_.get(); }
  ibv_qp* qp(std::size_t index) const { return qps_[index].get(); }
  std::byte* memory(std::uint64_t offset) const { return memory_.data() + offset; }
  std::uint32_t lkey() const { return mr_->lkey; }
  std::uint64_t max_inline() const { return max_inline_; }
  /// "device mlx5_0, port 1, qp 0x1a2"
  std::string text(std::size_t index) const;

 private:
  Failed register_memory();
  Failed create_queues();
  Failed create_qp();
  Failed to_init();
  Failed to_rtr(std::size_t index, const EndInfo& peer);
  Failed to_rts(std::size_t index, const EndInfo& peer);
  void describe();

  VerbsPlan plan_;
  Port port_;
  Handle<ibv_pd, ibv_dealloc_pd> pd_;
  HostMemory memory_;
  Handle<ibv_mr, ibv_dereg_mr> mr_;
  Handle<ibv_cq, ibv_destroy_cq> send_cq_, receive_cq_;
  std::vector<Handle<ibv_qp, ibv_destroy_qp>> qps_;
  std::uint64_t max_inline_ = 0;
  EndInfo info_;
};

}  // namespace fabricgate::fabric
