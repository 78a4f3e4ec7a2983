#include "fabric/tcp/flows.hpp"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <vector>

namespace fabricgate::fabric {
namespace {

/// A SYN without answer is sent again after 1 s and 3 s (RFC 6298), since Linux 6.5 after 1, 2 and 3 s.
constexpr double connect_s = 3.5;
constexpr double closing_s = 0.5;  // for the peer's last word, beyond what it may take itself
constexpr int look_ms = 50;        // how often the clock is looked at while nothing happens
constexpr int last_port = 65535;

using Token = std::uint64_t;

/// Eight bytes of a non-blocking socket, as they come.
struct Word {
  Token value = 0;
  std::size_t read = 0;
  bool whole() const { return read == sizeof value; }
};

/// False when the connection ended.
bool read_some(const Socket& socket, Word& word) {
  const auto got =
      ::recv(socket.fd(), reinterpret_cast<char*>(&word.value) + word.read, sizeof word.value - word.read, 0);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  word.read += static_cast<std::size_t>(got);
  return got > 0;
}

/// The first bytes of a connection always have room.
bool write_word(const Socket& socket, Token value) {
  return ::send(socket.fd(), &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

/// What the peer's process must say: not what a mirror would.
Token answer_to(Token token) {
  return ~token;
}

/// The end that hears the other one close answers with a reset, so that neither keeps the port for a minute.
void reset_on_close(const Socket& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

struct Dialled {
  enum class State { connecting, asked, answered, lost };
  Socket socket;
  Token token = 0;
  Word answer;
  State state = State::connecting;
  bool pending() const { return state == State::connecting || state == State::asked; }
};

struct Taken {
  Socket socket;  ///< none once the peer has closed
  Word token;
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
      if (std::none_of(dialled_.begin(), dialled_.end(), [](const Dialled& flow) { return flow.pending(); }))
        dialled_.clear();  // closing them tells the peer that we are through
    }
    return {seen_, taken_.size()};
  }

 private:
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
      dialled_.push_back({.socket = std::move(*socket), .token = Token{random()} << 32 | random()});
      ++seen_.dialled;
    }
  }

  /// Entries of poll in a fixed order: listener, dialled, taken; −1 is passed over.
  void wait() {
    std::vector<pollfd> places{{listener_.socket.fd(), POLLIN, 0}};
    for (const Dialled& flow : dialled_)
      places.push_back({flow.pending() ? flow.socket.fd() : -1,
                        flow.state == Dialled::State::connecting ? short{POLLOUT} : short{POLLIN}, 0});
    for (const Taken& flow : taken_) places.push_back({flow.socket.fd(), POLLIN, 0});
    if (::poll(places.data(), places.size(), std::min(look_ms, deadline_.left_ms())) <= 0) return;
    const auto moved = [&](std::size_t place) { return places[place].revents != 0; };
    for (std::size_t i = 0; i < dialled_.size(); ++i)
      if (moved(1 + i)) advance(dialled_[i]);
    for (std::size_t i = 0; 1 + dialled_.size() + i < places.size(); ++i)
      if (moved(1 + dialled_.size() + i)) serve(taken_[i]);
    if (moved(0)) take();
  }

  void advance(Dialled& flow) {
    if (flow.state == Dialled::State::connecting) {
      if (auto ended = tcp_connect_end(flow.socket); !ended) return lose(flow, ended.error().what);
      flow.state = Dialled::State::asked;
      if (!write_word(flow.socket, flow.token)) lose(flow, "nothing could be sent");
      return;
    }
    if (!read_some(flow.socket, flow.answer)) return lose(flow, "the peer closed the connection");
    if (!flow.answer.whole()) return;
    if (flow.answer.value != answer_to(flow.token)) return lose(flow, "answered with other bytes");
    flow.state = Dialled::State::answered;
    ++seen_.answered;
    if (note_segment(flow.socket)) ++seen_.late;
  }

  void lose(Dialled& flow, const std::string& why) {
    if (seen_.first_lost.empty()) seen_.first_lost = fmt::format("from port {}: {}", own_port(flow.socket), why);
    flow.state = Dialled::State::lost;
    flow.socket = {};
  }

  void give_up_late() {
    if (deadline_.passed() && !dialled_.empty()) seen_.error = "the round's time was over";
    const bool no_connection = connect_end_.passed(), no_answer = answer_end_.passed();
    for (Dialled& flow : dialled_) {
      if (flow.state == Dialled::State::connecting && no_connection)
        lose(flow, fmt::format("no answer in {} s", connect_s));
      if (flow.state == Dialled::State::asked && no_answer)
        lose(flow, fmt::format("connected, and its process did not answer in {} s", setup_.answer_s));
    }
  }

  void take() {
    for (;;) {
      auto socket = tcp_accept_waiting(listener_, setup_.peer_address);
      if (!socket) seen_.error = socket.error().what;
      if (!socket || !*socket) return;
      if (taken_.empty()) serve_end_ = deadline_.at_most(setup_.answer_s + closing_s);
      reset_on_close(**socket);
      taken_.push_back({.socket = std::move(**socket)});
    }
  }

  void serve(Taken& flow) {
    const bool open = read_some(flow.socket, flow.token);
    if (flow.token.whole()) {
      if (!write_word(flow.socket, answer_to(flow.token.value))) flow.socket = {};
      flow.token = {};
      if (flow.socket.fd() >= 0) note_segment(flow.socket);
    }
    if (!open) flow.socket = {};
  }

  /// The peer closes its connections together, when it is through.
  bool peer_is_through() const {
    if (serve_end_.passed()) return true;
    return !taken_.empty() &&
           std::none_of(taken_.begin(), taken_.end(), [](const Taken& flow) { return flow.socket.fd() >= 0; });
  }

  /// True when something had to be sent again.
  bool note_segment(const Socket& socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(socket.fd(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
    const std::uint64_t bytes = info.tcpi_snd_mss;
    seen_.segment_bytes = seen_.segment_bytes == 0 ? bytes : std::min(seen_.segment_bytes, bytes);
    return info.tcpi_total_retrans > 0;
  }

  const Listener& listener_;
  const FlowsSetup& setup_;
  Deadline deadline_, connect_end_, answer_end_, serve_end_;
  FlowCount seen_;
  std::vector<Dialled> dialled_;  ///< emptied when all of them have ended
  std::vector<Taken> taken_;
};

}  // namespace

FlowsSeen run_flows(const Listener& listener, const FlowsSetup& setup, Deadline deadline) {
  return Flows(listener, setup, deadline).run();
}

}  // namespace fabricgate::fabric
