#include "fabric/thread_rendezvous.hpp"

#include <fmt/format.h>

namespace fabricgate::fabric {
namespace {

constexpr int kind_gather = 0, kind_broadcast = 1, kind_exchange = 2;

}  // namespace

void ThreadGroup::lose(int rank) {
  const std::lock_guard lock(mutex_);
  lost_.insert(rank);
}

bool ThreadGroup::lost(int rank) {
  const std::lock_guard lock(mutex_);
  return lost_.count(rank) > 0;
}

Status ThreadGroup::put(const Key& key, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const int from = std::get<1>(key);
  if (lost_.count(from) > 0)
    return Error{ErrorKind::unavailable, fmt::format("rank {} was taken out of the group", from)};
  box_[key] = text;
  changed_.notify_all();
  return {};
}

std::optional<std::string> ThreadGroup::take(const Key& key, bool keep, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return box_.count(key) > 0; };
  if (!changed_.wait_until(lock, deadline.end(), there)) return std::nullopt;
  const auto found = box_.find(key);
  std::string text = found->second;
  if (!keep) box_.erase(found);
  return text;
}

Result<std::vector<std::optional<std::string>>> ThreadRendezvous::gather(const std::string& mine, Deadline deadline) {
  const int call = gathers_++;
  if (auto put = group_.put({kind_gather, rank_, 0, 0, call}, mine); !put) return put.error();
  std::vector<std::optional<std::string>> entries;
  if (rank_ != 0) return entries;
  for (int rank = 0; rank < size(); ++rank) {
    entries.push_back(group_.take({kind_gather, rank, 0, 0, call}, false, deadline));
  }
  return entries;
}

Result<std::string> ThreadRendezvous::broadcast(const std::string& text, Deadline deadline) {
  const ThreadGroup::Key key{kind_broadcast, 0, -1, 0, broadcasts_++};
  if (rank_ == 0) {
    if (auto put = group_.put(key, text); !put) return put.error();
    return text;
  }
  if (group_.lost(rank_))
    return Error{ErrorKind::unavailable, fmt::format("rank {} was taken out of the group", rank_)};
  auto heard = group_.take(key, true, deadline);
  if (!heard) return Error{ErrorKind::timeout, "broadcast: rank 0 did not speak in time"};
  return *heard;
}

Result<std::string> ThreadRendezvous::exchange(int peer, int tag, const std::string& mine, Deadline deadline) {
  const int call = exchanges_[{peer, tag}]++;
  if (auto put = group_.put({kind_exchange, rank_, peer, tag, call}, mine); !put) return put.error();
  auto theirs = group_.take({kind_exchange, peer, rank_, tag, call}, false, deadline);
  if (!theirs) {
    return Error{ErrorKind::timeout, fmt::format("exchange: rank {} did not answer rank {} in time", peer, rank_)};
  }
  return *theirs;
}

}  // namespace fabricgate::fabric
