#include "fabric/tcp/flows.hpp"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "fabric/tcp/burst.hpp"

namespace fabricgate::fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double connect_s = 3.5;  // a SYN is sent again after 1 s and 3 s (RFC 6298), since Linux 6.5 after 1, 2 and 3 s
constexpr double next_burst_s = 0.04;  // one burst at a time, unless it takes so long
constexpr int most_tries = 1 + FlowCount::repetitions;
constexpr double closing_s = 0.5;    // for the peer's last word, beyond what it may take itself
constexpr int look_ms = 20;          // how often the clock is looked at while nothing happens
constexpr int last_port = 65535;

/// Of the end that hears the other one close, so that neither keeps the port for a minute; and of one that closes behind what
/// never arrived, of which the other would not hear.
void reset_on_close(const Socket& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

tcp_info info_of(const Socket& socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  (void)::getsockopt(socket.fd(), IPPROTO_TCP, TCP_INFO, &info, &length);
  return info;
}

struct Dialled {
  enum class State { connecting, asked, answered, bursting, lost };
  Socket socket;
  Token token = 0;
  Message out, in;
  State state = State::connecting;
  Clock::time_point began = {};     ///< of the burst
  std::uint64_t acknowledged = 0;   ///< bytes when it began
  int tries = 0;
  bool shaking() const { return state == State::connecting || state == State::asked; }
  bool pending() const { return shaking() || state == State::bursting; }
  double running_s() const { return std::chrono::duration<double>(Clock::now() - began).count(); }
};

/// Answers a word first, bursts from then on.
struct Taken {
  Socket socket;  ///< none once the peer has closed
  Message in = empty_message(sizeof(Token));
  Message out;
};

class Flows {
 public:
  Flows(const Listener& listener, const FlowsSetup& setup, Deadline deadline)
      : listener_(listener),
        setup_(setup),
        deadline_(deadline),
        connect_end_(deadline.at_most(connect_s)),
        answer_end_(deadline.at_most(setup.answer_s)),
        serve_end_(answer_end_) {}

  FlowsSeen run() {
    dial();
    while (!dialled_.empty() || !peer_is_through()) {
      wait();
      give_up_late();
      if (dialled_.empty() || any(&Dialled::shaking)) continue;
      begin_bursts();
      if (!any(&Dialled::pending) && next_.empty()) conclude();
    }
    return {seen_, taken_.size()};
  }

 private:
  bool any(bool (Dialled::*is)() const) const { return std::any_of(dialled_.begin(), dialled_.end(), std::mem_fn(is)); }

  /// Neighbouring source ports, so that a hash of their lowest bits meets every path: those that the kernel chooses for
  /// a bound socket are all odd.
  void dial() {
    std::random_device random;
    int port = 0;
    while (seen_.dialled < setup_.count) {
      auto socket = tcp_dial({setup_.own_address, port}, {setup_.peer_address, setup_.peer_port});
      if (!socket && socket.error().native == EADDRINUSE && port != 0) {
        port = port == last_port ? 0 : port + 1;
        continue;
      }
      if (!socket) {
        seen_.error = socket.error().what;
        return;
      }
      const int own = own_port(*socket);
      port = own == last_port ? 0 : own + 1;
      make_room(*socket);
      dialled_.push_back({.socket = std::move(*socket), .token = Token{random()} << 32 | random()});
      ++seen_.dialled;
    }
  }

  /// Entries of poll in a fixed order: listener, dialled, taken; −1 is passed over.
  void wait() {
    std::vector<pollfd> places{{listener_.socket.fd(), POLLIN, 0}};
    for (const Dialled& flow : dialled_) {
      const bool writes = flow.state == Dialled::State::connecting || !flow.out.whole();
      places.push_back({flow.pending() ? flow.socket.fd() : -1, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0});
    }
    for (const Taken& flow : taken_) places.push_back({flow.socket.fd(), flow.out.whole() ? short{POLLIN} : short{POLLOUT}, 0});
    if (::poll(places.data(), places.size(), std::min(look_ms, deadline_.left_ms())) <= 0) return;
    const auto moved = [&](std::size_t place) { return places[place].revents != 0; };
    for (std::size_t i = 0; i < dialled_.size(); ++i)
      if (moved(1 + i)) advance(dialled_[i]);
    for (std::size_t i = 0; 1 + dialled_.size() + i < places.size(); ++i)
      if (moved(1 + dialled_.size() + i)) serve(taken_[i]);
    if (moved(0)) take();
  }

  void say(Dialled& flow, Message message) {
    flow.in = empty_message(message.bytes.size());
    flow.out = std::move(message);
  }

  void advance(Dialled& flow) {
    if (flow.state == Dialled::State::connecting) {
      if (auto ended = tcp_connect_end(flow.socket); !ended) return lose(flow, ended.error().what);
      flow.state = Dialled::State::asked;
      say(flow, word_of(flow.token));
    }
    if (!flow.out.whole() && !flow.out.write_to(flow.socket)) return fail(flow, "nothing could be sent");
    if (!flow.in.read_from(flow.socket)) return fail(flow, "the peer closed the connection");
    if (!flow.in.whole()) return;
    if (flow.in.bytes != inverted(flow.out).bytes) return fail(flow, "answered with other bytes");
    if (flow.state == Dialled::State::bursting) return end_burst(flow);
    flow.state = Dialled::State::answered;
    ++seen_.answered;
    next_.push_back(static_cast<std::size_t>(&flow - dialled_.data()));
    if (note_segment(flow.socket)) ++seen_.late;
  }

  void lose(Dialled& flow, const std::string& why) {
    if (seen_.first_lost.empty()) seen_.first_lost = fmt::format("from port {}: {}", own_port(flow.socket), why);
    flow.state = Dialled::State::lost;
    flow.socket = {};
  }

  void block(Dialled& flow, const std::string& why) {
    ++seen_.blocked;
    if (seen_.first_blocked.empty()) seen_.first_blocked = fmt::format("from port {}: {}", own_port(flow.socket), why);
    flow.state = Dialled::State::lost;
  }

  void fail(Dialled& flow, const std::string& why) {
    flow.state == Dialled::State::bursting ? block(flow, why) : lose(flow, why);
  }

  /// One after the other, so that each has the path for itself; those that hang do not hold up the rest.
  void begin_bursts() {
    const auto holds_up = [](const Dialled& flow) { return flow.state == Dialled::State::bursting && flow.running_s() < next_burst_s; };
    if (next_.empty() && !repeating_ && !any(&Dialled::pending)) {
      repeating_ = true;
      for (const std::size_t flow : times_.to_repeat()) next_.push_back(flow);
    }
    if (next_.empty() || std::any_of(dialled_.begin(), dialled_.end(), holds_up)) return;
    Dialled& flow = dialled_[next_.front()];
    next_.pop_front();
    begin_burst(flow);
  }

  void begin_burst(Dialled& flow) {
    flow.state = Dialled::State::bursting;
    flow.began = Clock::now();
    flow.acknowledged = info_of(flow.socket).tcpi_bytes_acked;
    say(flow, burst_of(flow.token + static_cast<Token>(flow.tries++)));
    advance(flow);
  }

  void end_burst(Dialled& flow) {
    const auto index = static_cast<std::size_t>(&flow - dialled_.data());
    if (flow.tries == 1) ++seen_.whole;
    flow.state = Dialled::State::answered;
    times_.note(index, flow.running_s());
    last_whole_ = Clock::now();
    const bool again = repeating_ && times_.stands_out(index) && flow.tries < most_tries;
    if (again) next_.push_front(index);
  }

  /// Out of time. Where some of it came through the path is slow; where nothing did, full-size segments do not pass. None
  /// back counts only where the peer answered others meanwhile.
  void cut_burst(Dialled& flow) {
    const tcp_info info = info_of(flow.socket);
    const bool arrived = info.tcpi_bytes_acked > flow.acknowledged;
    const bool none_back = flow.out.whole() && info.tcpi_unacked == 0 && flow.in.done == 0 && last_whole_ > flow.began;
    if (flow.tries == 1 && (!arrived || none_back))  // one that was whole once is slow
      return block(flow, fmt::format("no full-size segment came {} in {} s", arrived ? "back" : "there", FlowCount::burst_s));
    times_.note(static_cast<std::size_t>(&flow - dialled_.data()), flow.running_s());
    flow.state = Dialled::State::lost;
  }

  void give_up_late() {
    if (deadline_.passed() && !dialled_.empty()) seen_.error = "the round's time was over";
    const bool no_connection = connect_end_.passed(), no_answer = answer_end_.passed();
    for (Dialled& flow : dialled_) {
      if (flow.state == Dialled::State::connecting && no_connection)
        lose(flow, fmt::format("no answer in {} s", connect_s));
      if (flow.state == Dialled::State::asked && no_answer)
        lose(flow, fmt::format("connected, and its process did not answer in {} s", setup_.answer_s));
      if (flow.state == Dialled::State::bursting && (flow.running_s() > FlowCount::burst_s || deadline_.passed())) cut_burst(flow);
    }
    if (deadline_.passed()) next_.clear();
  }

  /// Closing the connections tells the peer that we are through.
  void conclude() {
    seen_.usual_s = seen_.slowest_s = times_.usual();
    for (std::size_t flow = 0; flow < dialled_.size(); ++flow) {
      const bool lost = dialled_[flow].state == Dialled::State::lost, settled = lost || dialled_[flow].tries == most_tries;
      if (lost) reset_on_close(dialled_[flow].socket);
      if (settled) seen_.slowest_s = std::max(seen_.slowest_s, times_.of(flow));
    }
    dialled_.clear();
  }

  void take() {
    for (;;) {
      auto socket = tcp_accept_waiting(listener_, setup_.peer_address);
      if (!socket) seen_.error = socket.error().what;
      if (!socket || !*socket) return;
      if (taken_.empty()) serve_end_ = deadline_.at_most(setup_.answer_s + most_bursts_s() + closing_s);
      reset_on_close(**socket);
      make_room(**socket);
      taken_.push_back({.socket = std::move(**socket)});
    }
  }

  /// Of the peer, where every one of its bursts hangs, or the most are repeated.
  double most_bursts_s() const {
    return 2 * next_burst_s * static_cast<double>(setup_.count) + 2 * FlowCount::burst_s;
  }

  void serve(Taken& flow) {
    const bool open = flow.out.whole() ? flow.in.read_from(flow.socket) : flow.out.write_to(flow.socket);
    if (!open) {
      flow.socket = {};
    } else if (flow.in.whole()) {
      flow.out = inverted(flow.in);
      flow.in = empty_message(burst_bytes);
      if (!flow.out.write_to(flow.socket)) flow.socket = {};
      if (flow.socket.fd() >= 0) note_segment(flow.socket);
    }
  }

  /// The peer closes its connections together, when it is through.
  bool peer_is_through() const {
    if (serve_end_.passed()) return true;
    return !taken_.empty() &&
           std::none_of(taken_.begin(), taken_.end(), [](const Taken& flow) { return flow.socket.fd() >= 0; });
  }

  /// True when something had to be sent again.
  bool note_segment(const Socket& socket) {
    const tcp_info info = info_of(socket);
    const std::uint64_t bytes = info.tcpi_snd_mss;
    if (bytes > 0) seen_.segment_bytes = seen_.segment_bytes == 0 ? bytes : std::min(seen_.segment_bytes, bytes);
    return info.tcpi_total_retrans > 0;
  }

  const Listener& listener_;
  const FlowsSetup& setup_;
  Deadline deadline_, connect_end_, answer_end_, serve_end_;
  FlowCount seen_;
  std::vector<Dialled> dialled_;  ///< emptied when all of them have ended
  std::vector<Taken> taken_;
  std::deque<std::size_t> next_;  ///< of dialled_, whose burst was not begun
  bool repeating_ = false;
  Clock::time_point last_whole_ = {};  ///< when a burst was last back
  BurstTimes times_;
};

}  // namespace

FlowsSeen run_flows(const Listener& listener, const FlowsSetup& setup, Deadline deadline) {
  return Flows(listener, setup, deadline).run();
}

}  // namespace fabricgate::fabric
