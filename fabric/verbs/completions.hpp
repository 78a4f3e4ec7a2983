#pragma once
/// What completions said that were not good: the first that is no flush counts, flushes are counted.
#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

namespace fabricgate::fabric {

class BadCompletions {
 public:
  bool none() const { return !first_ && echoes_ == 0; }
  void take(const ibv_wc& wc);
  /// Takes what is still in the queue, also what is good.
  void drain(ibv_cq* cq);
  /// The first that is no flush, else a flush.
  const ibv_wc& first() const { return first_ ? *first_ : flush_; }
  /// Flushes beside it.
  std::uint64_t echoes() const { return first_ ? echoes_ : echoes_ - 1; }

 private:
  std::optional<ibv_wc> first_;
  ibv_wc flush_{};
  std::uint64_t echoes_ = 0;
};

}  // namespace fabricgate::fabric
