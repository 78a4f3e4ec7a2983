#pragma once
/// The end that takes what is sent, or written with immediate data: keeps every queue pair supplied with receives until
/// the last message of each has come.
#include <cstdint>
#include <vector>

#include "fabric/verbs/completions.hpp"
#include "fabric/verbs/endpoint.hpp"

namespace fabricgate::fabric {

class Receiver {
 public:
  Receiver(const Endpoint& endpoint, const VerbsStep& step);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Posts all receives; before the peer may send.
  [[nodiscard]] Failed fill();
  /// Takes completions and posts again what they used up; how many completions came.
  int move();
  /// Every queue pair had its last message.
  bool finished() const { return last_ >= lanes_.size(); }
  bool good() const { return bad_.none() && !post_failure_; }
  Failed failure() const;
  std::uint64_t messages() const { return messages_; }

 private:
  /// One queue pair. Receives are posted in chains, so that a call serves several messages.
  struct Lane {
    ibv_qp* qp = nullptr;
    ibv_recv_wr *begin = nullptr, *next = nullptr, *end = nullptr;
    std::uint64_t used = 0;
  };

  void make_ring(const VerbsStep& step);
  void post(Lane& lane);
  void take(const ibv_wc& wc);

  const Endpoint& endpoint_;
  std::uint64_t chain_ = 1;
  std::vector<ibv_sge> sges_;
  std::vector<ibv_recv_wr> ring_;
  std::vector<Lane> lanes_;
  std::uint64_t messages_ = 0, last_ = 0;
  BadCompletions bad_;
  Failed post_failure_;
};

}  // namespace fabricgate::fabric
