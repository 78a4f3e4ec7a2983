/// Method. UDP, because it crosses routers and needs no right beyond that of the interface, is not repeated by anybody,
/// and passes the same cable as RoCE. Each frame carries its number and a mark that the receiver drew; the receiver
/// answers each with a small packet that says how far it got, and that alone lets the sender go on (train_window.hpp).
/// So a path that is slower than declared, or a receiver that does not get the processor, makes the train slow and
/// loses nothing. Answers are not counted; losing some only delays. At the end both meet over the management network,
/// and take what still lies in their sockets. What the receiving host threw away after the wire is counted apart.
#include "fabric/link/train.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "fabric/link/sequence_count.hpp"
#include "fabric/link/train_socket.hpp"
#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

using nlohmann::json;

constexpr int headers_bytes = 28;  // IPv4 20, UDP 8
constexpr int poll_ms = 5;
constexpr int end_copies = 3;  // the end of a train is said so many times, for it may be lost too

enum class Kind : std::uint32_t { frame = 1, answer = 2, end = 3 };

struct Head {
  std::uint64_t mark = 0;  ///< the receiver's
  Kind kind = Kind::frame;
  std::uint32_t number = 0;
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Offer {
  std::uint16_t port = 0;
  std::uint64_t mark = 0;
  std::string error;
};

/// One rail during a train.
class Lane {
 public:
  Lane(const TrainRail& ends, const TrainOptions& options)
      : ends_(ends), options_(options), window_(options.pace, now_s()), count_(options.pace.frames) {
    std::random_device random;
    offer_.mark = std::uint64_t{random()} << 32 | random();
    auto socket = TrainSocket::open(ends.netdev, ends.source, options.receive_buffer_bytes);
    if (!socket) {
      offer_.error = socket.error().what;
      return;
    }
    socket_ = std::move(*socket);
    offer_.port = socket_.port();
  }

  const Offer& offer() const { return offer_; }
  int fd() const { return socket_.fd(); }
  bool running() const { return error_.empty(); }
  void fail(const std::string& error) { error_ = error; }
  void begin(const Offer& theirs) {
    peer_ = theirs;
    window_ = TrainWindow(options_.pace, now_s());
    heard_s_ = now_s();
  }
  bool done() const { return !running() || (window_.finished() && (ended_ || count_.complete() || quiet())); }

  void turn() {
    drain(true);
    window_.tick(now_s());
    while (running() && window_.may_send() && send_frame()) continue;
    if ((!running() || window_.finished()) && !said_end_) say_end();
  }

  void drain(bool answering) {
    for (auto packet = socket_.receive(sizeof(Head)); !packet.empty(); packet = socket_.receive(sizeof(Head))) {
      Head head;
      if (packet.size() < sizeof head) continue;
      std::memcpy(&head, packet.data(), sizeof head);
      if (head.mark != offer_.mark) continue;
      heard_s_ = now_s();
      if (head.kind == Kind::end) ended_ = true;
      if (head.kind == Kind::answer) window_.answered(head.number, heard_s_);
      if (head.kind == Kind::frame && count_.note(head.number) && answering) say(Kind::answer, count_.reached());
    }
  }

  TrainHalf half(std::uint64_t backlog) const {
    TrainHalf out{.rail = ends_.rail, .error = error_};
    if (!running()) return out;
    out.sent = window_.next();
    out.received = count_.received();
    out.repeated = count_.repeated();
    out.dropped = socket_.dropped() + backlog;
    return out;
  }

 private:
  /// A peer that is neither sending nor done: its last words were lost.
  bool quiet() const { return now_s() - heard_s_ > options_.pace.patience_s + 0.5; }

  bool send_frame() {
    const std::uint32_t number = window_.next();
    if (options_.lose && options_.lose(ends_.rail, number)) {
      window_.sent(now_s());
      return true;
    }
    const int bytes = std::max(ends_.mtu - headers_bytes, static_cast<int>(sizeof(Head)));
    const auto went = send(Kind::frame, number, static_cast<std::size_t>(bytes));
    if (!went && went.error().native == EMSGSIZE) {
      fail(fmt::format("{} itself is set to less than the declared MTU of {} bytes", ends_.netdev, ends_.mtu));
    } else if (!went) {
      fail(went.error().with(ends_.netdev).what);
    }
    if (!went || !*went) return false;
    window_.sent(now_s());
    return true;
  }

  void say_end() {
    for (int i = 0; i < end_copies; ++i) say(Kind::end, 0);
    said_end_ = true;
  }
  void say(Kind kind, std::uint32_t number) { (void)send(kind, number, sizeof(Head)); }

  Result<bool> send(Kind kind, std::uint32_t number, std::size_t bytes) {
    const Head head{peer_.mark, kind, number};
    packet_.assign(bytes, 0x5a);
    std::memcpy(packet_.data(), &head, sizeof head);
    return socket_.send(ends_.target, peer_.port, packet_);
  }

  const TrainRail& ends_;
  const TrainOptions& options_;
  TrainSocket socket_;
  Offer offer_, peer_;
  TrainWindow window_;
  SequenceCount count_;
  std::vector<std::uint8_t> packet_;
  std::string error_;
  double heard_s_ = 0;
  bool ended_ = false, said_end_ = false;
};

std::string pack(const std::vector<Lane>& lanes) {
  json list = json::array();
  for (const Lane& lane : lanes)
    list.push_back({{"port", lane.offer().port}, {"mark", lane.offer().mark}, {"error", lane.offer().error}});
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::vector<Offer>> unpack(const std::string& text, std::size_t expected) {
  try {
    const json list = json::parse(text);
    std::vector<Offer> out;
    for (const json& entry : list)
      out.push_back({whole_from<std::uint16_t>(entry, "port"), count_from(entry, "mark"),
                     entry.at("error").get<std::string>()});
    if (out.size() == expected) return out;
    return Error{ErrorKind::parse, fmt::format("the peer has {} rails, {} expected", out.size(), expected), 0};
  } catch (const json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("offer of the peer: {}", problem.what()), 0};
  }
}

/// Errors of either end into the lanes.
void begin(std::vector<Lane>& lanes, const Result<std::vector<Offer>>& theirs) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::string& mine = lanes[i].offer().error;
    if (!theirs) {
      lanes[i].fail("the peer did not come: " + theirs.error().what);
    } else if (!mine.empty()) {
      lanes[i].fail(mine);
    } else if (!(*theirs)[i].error.empty()) {
      lanes[i].fail("the peer: " + (*theirs)[i].error);
    } else {
      lanes[i].begin((*theirs)[i]);
    }
  }
}

void run(std::vector<Lane>& lanes, Deadline deadline) {
  std::vector<pollfd> fds;
  for (const Lane& lane : lanes)
    if (lane.running()) fds.push_back({.fd = lane.fd(), .events = POLLIN});
  while (!deadline.passed()) {
    for (Lane& lane : lanes)
      if (lane.running()) lane.turn();
    if (std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.done(); })) return;
    poll(fds.data(), fds.size(), std::min(poll_ms, deadline.left_ms()));
  }
  for (Lane& lane : lanes)
    if (!lane.done()) lane.fail("not counted in time");
}

}  // namespace

std::vector<TrainHalf> run_trains(Rendezvous& rendezvous, int peer, int tag, const std::vector<TrainRail>& rails,
                                  const TrainOptions& options, Deadline deadline) {
  std::vector<Lane> lanes;
  lanes.reserve(rails.size());
  for (const TrainRail& rail : rails) lanes.emplace_back(rail, options);
  const std::uint64_t before = backlog_drops();
  const auto answer = rendezvous.exchange(peer, tag, pack(lanes), deadline);
  begin(lanes, answer ? unpack(*answer, lanes.size()) : Result<std::vector<Offer>>(answer.error()));
  run(lanes, deadline);
  if (answer) {
    const auto ended = rendezvous.exchange(peer, tag, "", deadline);
    for (Lane& lane : lanes) {
      if (lane.running()) lane.drain(false);
      if (lane.running() && !ended) lane.fail("the peer did not end: " + ended.error().what);
    }
  }
  const std::uint64_t after = backlog_drops();
  std::vector<TrainHalf> out;
  for (const Lane& lane : lanes) out.push_back(lane.half(after - std::min(before, after)));
  return out;
}

}  // namespace fabricgate::fabric
