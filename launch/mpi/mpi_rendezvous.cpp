#include "launch/mpi/mpi_rendezvous.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "launch/interrupt.hpp"

namespace fabricgate::launch {
namespace {

constexpr int gather_tag = 1, broadcast_tag = 2, exchange_tag = 16;
constexpr std::size_t header_bytes = 16;

Error mpi_error(const std::string& call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {ErrorKind::native, call + ": " + std::string(text, static_cast<std::size_t>(length)), code};
}

/// Pauses that grow: short at first, so that a quick answer is taken up quickly, at most 2 ms.
class Pause {
 public:
  void rest() {
    std::this_thread::sleep_for(std::chrono::microseconds(length_us_));
    length_us_ = std::min(length_us_ * 3 / 2 + 1, 2000);
  }

 private:
  int length_us_ = 10;
};

Status interrupted_or_late(const Deadline& deadline, const std::string& what) {
  if (interrupted()) return Error{ErrorKind::timeout, what + ": interrupted", 0};
  if (deadline.passed()) return Error{ErrorKind::timeout, what + ": no answer before the deadline", 0};
  return {};
}

}  // namespace

struct MpiRendezvous::Outgoing {
  std::string bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

MpiRendezvous::MpiRendezvous(std::vector<int> ranks) : ranks_(std::move(ranks)) {
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  rank_ = static_cast<int>(std::find(ranks_.begin(), ranks_.end(), world) - ranks_.begin());
}

MpiRendezvous::~MpiRendezvous() {
  (void)flush(Deadline::in_seconds(1));
  // a buffer MPI may still read must outlive us; the process is about to end
  if (!outgoing_.empty()) (void)new std::list<Outgoing>(std::move(outgoing_));
}

void MpiRendezvous::reap() {
  for (auto i = outgoing_.begin(); i != outgoing_.end();) {
    int done = 0;
    const int code = MPI_Test(&i->request, &done, MPI_STATUS_IGNORE);
    i = done || code != MPI_SUCCESS ? outgoing_.erase(i) : std::next(i);
  }
}

Status MpiRendezvous::flush(Deadline deadline) {
  Pause pause;
  for (reap(); !outgoing_.empty(); reap()) {
    if (auto late = interrupted_or_late(deadline, "send"); !late) return late;
    pause.rest();
  }
  return {};
}

Status MpiRendezvous::start_send(int peer, int tag, Stamp stamp, const std::string& text) {
  Outgoing& out = outgoing_.emplace_back();
  out.bytes.resize(header_bytes + text.size());
  std::memcpy(out.bytes.data(), &stamp.epoch, 8);
  std::memcpy(out.bytes.data() + 8, &stamp.sequence, 8);
  std::memcpy(out.bytes.data() + header_bytes, text.data(), text.size());
  const int code = MPI_Isend(out.bytes.data(), static_cast<int>(out.bytes.size()), MPI_BYTE, ranks_[static_cast<std::size_t>(peer)],
                             tag, MPI_COMM_WORLD, &out.request);
  if (code == MPI_SUCCESS) return {};
  outgoing_.pop_back();
  return mpi_error("MPI_Isend to rank " + std::to_string(peer), code);
}

Status MpiRendezvous::send(int peer, int tag, Stamp stamp, const std::string& text, Deadline deadline) {
  if (auto started = start_send(peer, tag, stamp, text); !started) return started;
  return flush(deadline);
}

Result<std::optional<MpiRendezvous::Message>> MpiRendezvous::take(int peer, int tag) {
  int there = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  int code = MPI_Improbe(ranks_[static_cast<std::size_t>(peer)], tag, MPI_COMM_WORLD, &there, &handle, &status);
  if (code != MPI_SUCCESS) return mpi_error("MPI_Improbe rank " + std::to_string(peer), code);
  if (!there) return std::optional<Message>{};
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  code = MPI_Mrecv(bytes.data(), length, MPI_BYTE, &handle, &status);
  if (code != MPI_SUCCESS) return mpi_error("MPI_Mrecv from rank " + std::to_string(peer), code);
  if (bytes.size() < header_bytes)
    return Error{ErrorKind::bug, "message of " + std::to_string(length) + " bytes from rank " + std::to_string(peer), 0};
  Message message;
  std::memcpy(&message.stamp.epoch, bytes.data(), 8);
  std::memcpy(&message.stamp.sequence, bytes.data() + 8, 8);
  message.text = bytes.substr(header_bytes);
  return std::optional<Message>(std::move(message));
}

Result<MpiRendezvous::Message> MpiRendezvous::await(int peer, int tag, Stamp at_least, Deadline deadline) {
  for (Pause pause;; pause.rest()) {
    reap();
    auto message = take(peer, tag);
    if (!message) return message.error();
    if (*message && (*message)->stamp >= at_least) return std::move(**message);
    if (*message) continue;
    if (auto late = interrupted_or_late(deadline, "rank " + std::to_string(peer)); !late) return late.error();
  }
}

Result<std::vector<std::optional<std::string>>> MpiRendezvous::gather(const std::string& mine, Deadline deadline) {
  const Stamp stamp{epoch_, ++gathers_};
  std::vector<std::optional<std::string>> out;
  if (rank_ != 0) {
    if (auto sent = send(0, gather_tag, stamp, mine, deadline); !sent) return sent.error().with("gather");
    return out;
  }
  out.resize(ranks_.size());
  out[0] = mine;
  std::size_t open = ranks_.size() - 1;
  for (Pause pause; open > 0; pause.rest()) {
    for (int peer = 1; peer < size(); ++peer) {
      auto& slot = out[static_cast<std::size_t>(peer)];
      if (slot) continue;
      auto message = take(peer, gather_tag);
      if (!message) return message.error().with("gather");
      if (!*message || (*message)->stamp < stamp) continue;
      slot = std::move((*message)->text);
      --open;
    }
    if (deadline.passed() || interrupted()) break;
  }
  return out;
}

Result<std::string> MpiRendezvous::broadcast(const std::string& text, Deadline deadline) {
  const Stamp stamp{epoch_ + 1, 0};
  gathers_ = 0;
  exchanges_.clear();
  if (rank_ != 0) {
    auto message = await(0, broadcast_tag, stamp, deadline);
    if (!message) return message.error().with("broadcast");
    epoch_ = message->stamp.epoch;
    return std::move(message->text);
  }
  epoch_ = stamp.epoch;
  for (int peer = 1; peer < size(); ++peer)
    if (auto sent = start_send(peer, broadcast_tag, stamp, text); !sent) return sent.error().with("broadcast");
  // a rank that takes nothing must not hold up those that do: what is not gone by then goes out during later calls
  (void)flush(deadline.at_most(2));
  return text;
}

Result<std::string> MpiRendezvous::exchange(int peer, int tag, const std::string& mine, Deadline deadline) {
  const Stamp stamp{epoch_, ++exchanges_[{peer, tag}]};
  if (auto sent = start_send(peer, exchange_tag + tag, stamp, mine); !sent) return sent.error().with("exchange");
  auto message = await(peer, exchange_tag + tag, stamp, deadline);
  if (!message) return message.error().with("exchange");
  if (auto gone = flush(deadline); !gone) return gone.error().with("exchange");
  return std::move(message->text);
}

}  // namespace fabricgate::launch
