/// Method. All questions of an interface share one ARP socket, and all interfaces one poll loop. Tries go out in
/// windows, so that a thousand targets do not overrun the receive buffers; every answer of a window is collected until
/// its last try's time is over, because a second owner of an address may answer later than the first. Then, for targets
/// that answered on their own rail, an echo of the smallest size and one of exactly the MTU, "don't fragment": only
/// when the small one comes back does silence on the large one say something about the MTU. Last, the kernel is asked
/// which way it sends: ARP and echoes are bound to the interface and go past its routes, what is measured later is not.
#include "fabric/link/reach.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "fabric/link/raw_socket.hpp"
#include "fabric/link/route_socket.hpp"

namespace fabricgate::fabric {
namespace {

constexpr int smallest_echo_bytes = 64;

/// Questions [first, last) of one interface.
using Window = std::vector<std::size_t>;

/// Waits until `until` and hands every socket that has something to `read`.
template <class Sockets, class Read>
void listen(const Sockets& sockets, Deadline until, Read&& read) {
  std::vector<pollfd> fds;
  for (const auto& [netdev, socket] : sockets) fds.push_back({.fd = socket.fd(), .events = POLLIN});
  while (!until.passed()) {
    if (poll(fds.data(), fds.size(), until.left_ms()) <= 0) continue;
    for (const auto& [netdev, socket] : sockets) read(netdev, socket);
  }
}

class Probe {
 public:
  Probe(const std::vector<ReachQuestion>& questions, const ReachOptions& options, Deadline deadline)
      : questions_(questions), options_(options), deadline_(deadline), echoed_(questions.size()) {
    for (const ReachQuestion& q : questions) {
      answers_.push_back({.from = q.from, .from_rail = q.from_rail, .to = q.to, .to_rail = q.to_rail});
    }
  }

  std::vector<ReachAnswer> run() {
    open_all(arp_, [](const ReachQuestion&) { return true; });
    for (const Window& window : windows([this](std::size_t i) { return answers_[i].error.empty(); })) ask(window);
    const auto wants_mtu = [this](std::size_t i) {
      return questions_[i].mtu > 0 && questions_[i].from_rail == questions_[i].to_rail && !answers_[i].macs.empty();
    };
    open_all(echo_, [](const ReachQuestion& q) { return q.mtu > 0; });
    for (const Window& window : windows(wants_mtu)) echo(window);
    look_up();
    for (std::size_t i = 0; i < questions_.size(); ++i) conclude(i);
    return std::move(answers_);
  }

 private:
  struct Echoed {
    bool small = false, full = false, asked = false;
    std::string error;       ///< no echo could be sent
    std::string full_error;  ///< none of the full size
  };

  template <class Socket, class Wanted>
  void open_all(std::map<std::string, Socket>& sockets, Wanted&& wanted) {
    std::map<std::string, std::string> failed;
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      const std::string& netdev = questions_[i].netdev;
      if (!wanted(questions_[i])) continue;
      if (!sockets.count(netdev) && !failed.count(netdev)) {
        auto socket = Socket::open(netdev);
        if (socket) {
          sockets.emplace(netdev, std::move(*socket));
        } else {
          failed[netdev] = socket.error().what;
        }
      }
      if (failed.count(netdev))
        (std::is_same_v<Socket, ArpSocket> ? answers_[i].error : echoed_[i].error) = failed[netdev];
    }
  }

  template <class Wanted>
  std::vector<Window> windows(Wanted&& wanted) const {
    std::vector<Window> out;
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      if (!wanted(i)) continue;
      if (out.empty() || out.back().size() >= static_cast<std::size_t>(std::max(1, options_.window)))
        out.emplace_back();
      out.back().push_back(i);
    }
    return out;
  }

  void ask(const Window& window) {
    for (int attempt = 0; attempt < options_.tries; ++attempt) {
      for (const std::size_t i : window) {
        if (deadline_.passed() && answers_[i].macs.empty()) answers_[i].error = "not asked in time";
        if (deadline_.passed()) continue;
        const Status sent = arp_.at(questions_[i].netdev).ask(questions_[i].source, questions_[i].target);
        answers_[i].error = sent ? "" : sent.error().with(questions_[i].netdev).what;
      }
      listen(arp_, deadline_.at_most(options_.try_s), [&](const std::string& netdev, const ArpSocket& socket) {
        for (const ArpSocket::Answer& answer : socket.receive()) note(window, netdev, answer);
      });
    }
  }

  void note(const Window& window, const std::string& netdev, const ArpSocket::Answer& answer) {
    for (const std::size_t i : window) {
      if (questions_[i].target != answer.address || questions_[i].netdev != netdev) continue;
      std::vector<std::string>& macs = answers_[i].macs;
      const auto at = std::lower_bound(macs.begin(), macs.end(), answer.mac);
      if (at == macs.end() || *at != answer.mac) macs.insert(at, answer.mac);
    }
  }

  void echo(const Window& window) {
    for (int attempt = 0; attempt < options_.tries; ++attempt) {
      for (std::size_t k = 0; k < window.size() && !deadline_.passed(); ++k) send_echo(window[k], k);
      const auto done = [this](std::size_t i) {
        const Echoed& state = echoed_[i];
        return state.full || !state.error.empty() || (state.small && !state.full_error.empty());
      };
      if (std::all_of(window.begin(), window.end(), done)) return;
      listen(echo_, deadline_.at_most(options_.try_s), [&](const std::string& netdev, const EchoSocket& socket) {
        for (const EchoSocket::Answer& answer : socket.receive()) note(window, netdev, answer);
      });
    }
  }

  /// Sequence numbers 2k and 2k + 1 are the small and the full echo of the window's question k.
  void send_echo(std::size_t i, std::size_t k) {
    Echoed& state = echoed_[i];
    const auto socket = echo_.find(questions_[i].netdev);
    if (state.full || socket == echo_.end()) return;
    state.asked = true;
    const auto sequence = static_cast<std::uint16_t>(2 * k);
    const Status small = socket->second.send(questions_[i].target, sequence, smallest_echo_bytes);
    const Status full =
        socket->second.send(questions_[i].target, static_cast<std::uint16_t>(sequence + 1), questions_[i].mtu);
    if (!small) {
      state.error = small.error().with(questions_[i].netdev).what;
    } else if (!full && full.error().native == EMSGSIZE) {
      state.full_error = fmt::format("{} itself is set to less than the declared MTU of {} bytes", questions_[i].netdev,
                                     questions_[i].mtu);
    } else if (!full) {
      state.full_error = full.error().with(questions_[i].netdev).what;
    }
  }

  void note(const Window& window, const std::string& netdev, const EchoSocket::Answer& answer) {
    const std::size_t k = answer.sequence / 2;
    if (k >= window.size()) return;
    const std::size_t i = window[k];
    if (questions_[i].netdev != netdev || questions_[i].target != answer.address) return;
    (answer.sequence % 2 ? echoed_[i].full : echoed_[i].small) = true;
  }

  void look_up() {
    const auto kernel = RouteSocket::open();
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      const ReachQuestion& question = questions_[i];
      if (question.from_rail != question.to_rail || !answers_[i].error.empty()) continue;
      if (kernel) answers_[i].next_hop = kernel->next_hop(question.source, question.target);
      if (!kernel) answers_[i].error = kernel.error().what;
    }
  }

  void conclude(std::size_t i) {
    const ReachQuestion& question = questions_[i];
    const Echoed& state = echoed_[i];
    if (question.mtu <= 0 || question.from_rail != question.to_rail) return;
    ReachAnswer& answer = answers_[i];
    answer.echo = state.small || state.full;
    answer.full_mtu = state.full;
    if (state.full) return;
    if (answer.macs.empty()) {
      answer.mtu_error = "nobody answered for the address";
    } else if (!state.asked) {
      answer.error = state.error.empty() ? "not asked in time" : state.error;
    } else if (!state.error.empty()) {
      answer.mtu_error = state.error;
    } else if (!state.small) {
      answer.mtu_error = "no echo of any size is answered";
    } else if (!state.full_error.empty()) {
      answer.mtu_error = state.full_error;
    } else {
      answer.mtu_error = fmt::format("echo of {} bytes is answered, of {} bytes (the declared MTU) is not, {} tries",
                                     smallest_echo_bytes, question.mtu, options_.tries);
    }
  }

  const std::vector<ReachQuestion>& questions_;
  const ReachOptions options_;
  const Deadline deadline_;
  std::vector<ReachAnswer> answers_;
  std::vector<Echoed> echoed_;
  std::map<std::string, ArpSocket> arp_;
  std::map<std::string, EchoSocket> echo_;
};

}  // namespace

std::vector<ReachQuestion> reach_questions(const Desired& local, const Desired& peer) {
  std::vector<ReachQuestion> out;
  for (const DesiredRail& mine : local.rails) {
    for (const DesiredRail& theirs : peer.rails) {
      ReachQuestion question{.from = local.node, .from_rail = mine.name, .to = peer.node, .to_rail = theirs.name};
      question.netdev = mine.netdev;
      question.source = mine.address;
      question.target = theirs.address;
      if (mine.name == theirs.name) question.mtu = std::min(mine.mtu, theirs.mtu);
      out.push_back(question);
    }
  }
  return out;
}

std::vector<ReachAnswer> run_reach(const std::vector<ReachQuestion>& questions, const ReachOptions& options,
                                   Deadline deadline) {
  return Probe(questions, options, deadline).run();
}

}  // namespace fabricgate::fabric
