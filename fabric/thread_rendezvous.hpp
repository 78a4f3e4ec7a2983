#pragma once
/// Ranks as threads of one process, for tests. A ThreadGroup is the meeting place, each thread takes its
/// ThreadRendezvous.
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "fabric/rendezvous.hpp"

namespace fabricgate::fabric {

class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : size_(size) {}

  int size() const { return size_; }
  /// From now on this rank does not arrive: what it says is lost, its own calls return kind unavailable at once.
  void lose(int rank);

 private:
  friend class ThreadRendezvous;
  /// what (gather, broadcast, exchange), from, to, tag, number of the call
  using Key = std::tuple<int, int, int, int, int>;

  Status put(const Key& key, const std::string& text);
  std::optional<std::string> take(const Key& key, bool keep, Deadline deadline);
  bool lost(int rank);

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::string> box_;
  std::set<int> lost_;
};

/// Belongs to one thread.
class ThreadRendezvous final : public Rendezvous {
 public:
  ThreadRendezvous(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }
  Result<std::vector<std::optional<std::string>>> gather(const std::string& mine, Deadline deadline) override;
  Result<std::string> broadcast(const std::string& text, Deadline deadline) override;
  Result<std::string> exchange(int peer, int tag, const std::string& mine, Deadline deadline) override;

 private:
  ThreadGroup& group_;
  const int rank_;
  int gathers_ = 0, broadcasts_ = 0;
  std::map<std::pair<int, int>, int> exchanges_;
};

}  // namespace fabricgate::fabric
