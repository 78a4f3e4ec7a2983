#include "bootstrap/ssh/pool.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "bootstrap/ssh/descriptors.hpp"
#include "bootstrap/ssh/exec.hpp"
#include "bootstrap/ssh/identity.hpp"
#include "bootstrap/ssh/login.hpp"
#include "results/file.hpp"
#include "results/host_range.hpp"
#include "results/log.hpp"

namespace fabricgate::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

/// A jump host counts our logins against its MaxStartups (default 10), so few may be on their way at once.
constexpr std::size_t jump_window = 8;
/// Longest sleep of the loop: name lookups have no descriptor to wait on.
constexpr double tick_s = 0.02, long_tick_s = 1;
/// With a Watch::stop: a signal that ends the wait at once may be taken by another thread.
constexpr double stop_tick_s = 0.2;
/// Time that a running command has to end by itself when all must end.
constexpr double leave_s = 1.5;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One node: login, then its commands.
class Talk {
 public:
  Talk(const Inventory& inventory, const Identity& identity, NodeJob job, Deadline overall)
      : inventory_(inventory),
        job_(std::move(job)),
        overall_(overall),
        login_(inventory.ssh, &identity, inventory.nodes[job_.node].address) {
    outcome_.node = job_.node;
  }

  bool advance() {  // true when the session has ended
    if (overall_.passed() || (leaving_ && !logged_in_)) {
      outcome_.interrupted = leaving_;
      end(Error{ErrorKind::timeout,
                "ssh " + ssh_target(inventory_, job_.node) +
                    (leaving_ ? ": interrupted" : ": no time left for this node"),
                0},
          "");
      return true;
    }
    if (!logged_in_ && !advance_login()) return ended_;
    login_.pump();
    while (!ended_ && advance_command()) {
    }
    return ended_;
  }

  /// The caller wants to leave, see Watch::stop.
  void leave() {
    leaving_ = true;
    overall_ = overall_.at_most(leave_s);
    if (exec_) exec_->end_input();
  }

  pollfd wants() const { return logged_in_ ? login_.session_wants() : login_.wants(); }
  bool dialling() const { return !logged_in_; }
  std::size_t node() const { return outcome_.node; }
  std::string doing() const { return exec_ ? exec_->doing() : "logging in"; }
  Deadline deadline() const { return (exec_ ? exec_->deadline() : login_.deadline()).at_most(overall_.left_s()); }
  SessionOutcome outcome() {
    outcome_.total_s = since(start_);
    return std::move(outcome_);
  }

 private:
  bool advance_login() {
    const auto result = login_.advance();
    if (!result) return false;
    if (!*result) {
      end(result->error(), login_.cause());
      return false;
    }
    logged_in_ = true;
    outcome_.connect_s = since(start_);
    start_command(nullptr);
    return !ended_;
  }

  void start_command(const CommandResult* previous) {
    auto command = job_.next(previous);
    exec_.reset();
    if (!command) {
      ended_ = true;
      return;
    }
    auto line = command_line(*command, inventory_.ssh.user);
    if (!line) return end(line.error(), "");
    exec_ = std::make_unique<Exec>(login_.session(), std::move(*command), std::move(*line));
  }

  /// True when a further command was started.
  bool advance_command() {
    auto result = exec_->advance();
    if (!result) return false;
    if (!*result) {
      outcome_.interrupted = leaving_;
      end(result->error(), !leaving_ && result->error().kind == ErrorKind::io && ssh_is_connected(login_.session()) == 0
                               ? "ssh.unreachable"
                               : "");
      return false;
    }
    const CommandResult previous = std::move(*result).value();
    if (const std::string refusal = inventory_.ssh.user == "root" ? "" : refusal_of_sudo(previous); !refusal.empty()) {
      end(Error{ErrorKind::denied, "ssh " + ssh_target(inventory_, job_.node) + ": " + refusal, 0}, "ssh.sudo_refused");
      return false;
    }
    start_command(&previous);
    return !ended_;
  }

  void end(const Error& error, const std::string& cause) {
    ended_ = true;
    outcome_.status = error;
    exec_.reset();
    if (cause.empty()) return;
    const char* expected = cause == "ssh.host_key_unknown" || cause == "ssh.host_key_changed"
                               ? "the host key recorded in known_hosts"
                           : cause == "ssh.sudo_refused" ? "sudo -n runs commands without a question"
                                                         : "SSH login with the key of the inventory";
    outcome_.finding = make_finding(cause, {.host = inventory_.nodes[job_.node].name}, expected, error.what);
  }

  const Inventory& inventory_;
  NodeJob job_;
  Deadline overall_;
  Clock::time_point start_ = Clock::now();
  Login login_;
  std::unique_ptr<Exec> exec_;
  bool logged_in_ = false, ended_ = false, leaving_ = false;
  SessionOutcome outcome_;
};

class Pool {
 public:
  Pool(const Inventory& inventory, const Identity& identity, std::vector<NodeJob> jobs, Deadline deadline,
       const Watch& watch)
      : inventory_(inventory),
        identity_(identity),
        jobs_(std::move(jobs)),
        deadline_(deadline),
        watch_(watch),
        outcomes_(jobs_.size()) {}

  std::vector<SessionOutcome> hold() {
    for (;;) {
      if (!leaving_ && watch_.stop && watch_.stop()) leave();
      start();
      if (active_.empty()) return std::move(outcomes_);
      wait();
      tell_waiting();
      for (std::size_t i = 0; i < active_.size();)
        if (!due(i) || !active_[i].talk->advance())
          ++i;
        else
          retire(i);
    }
  }

 private:
  struct Active {
    std::size_t job;
    std::unique_ptr<Talk> talk;
    bool ready = true;
  };

  void leave() {
    leaving_ = true;
    for (std::size_t i = 0; i < active_.size();) {
      active_[i].talk->leave();
      if (active_[i].talk->advance())
        retire(i);
      else
        ++i;
    }
    for (; next_ < jobs_.size(); ++next_) {
      SessionOutcome& outcome = outcomes_[next_];
      outcome.node = jobs_[next_].node;
      outcome.interrupted = true;
      outcome.status = Error{ErrorKind::timeout,
                             "ssh " + ssh_target(inventory_, outcome.node) + ": interrupted before it was begun", 0};
      if (watch_.done) watch_.done(outcome);
    }
  }

  void tell_waiting() {
    if (since(heard_) < watch_.patience_s) return;
    heard_ = Clock::now();
    std::map<std::string, std::vector<std::string>> by_doing;
    for (const Active& active : active_) by_doing[active.talk->doing()].push_back(inventory_.nodes[active.talk->node()].name);
    std::string text = fmt::format("no answer for {:.0f} s of", watch_.patience_s);
    for (const auto& [doing, hosts] : by_doing) text += fmt::format(" {} ({})", fold_hosts(hosts), doing);
    log::info(text);
  }

  bool due(std::size_t i) const { return active_[i].ready || active_[i].talk->deadline().passed(); }

  void start() {
    const auto window = static_cast<std::size_t>(std::max(1, inventory_.ssh.window));
    const auto dialling = [&] {
      return static_cast<std::size_t>(
          std::count_if(active_.begin(), active_.end(), [](auto& a) { return a.talk->dialling(); }));
    };
    while (next_ < jobs_.size() && active_.size() < window) {
      if (!inventory_.ssh.jump.empty() && dialling() >= jump_window) return;
      const std::size_t job = next_++;
      active_.push_back({job, std::make_unique<Talk>(inventory_, identity_, std::move(jobs_[job]), deadline_)});
      if (active_.back().talk->advance()) retire(active_.size() - 1);
    }
  }

  void wait() {
    std::vector<pollfd> polled;
    double sleep_s = std::min(watch_.stop ? stop_tick_s : long_tick_s, deadline_.left_s());
    for (auto& active : active_) {
      polled.push_back(active.talk->wants());
      sleep_s = std::min(sleep_s, active.talk->deadline().left_s());
      if (polled.back().fd < 0) sleep_s = std::min(sleep_s, tick_s);
    }
    ::poll(polled.data(), polled.size(), static_cast<int>(sleep_s * 1000) + 1);
    for (std::size_t i = 0; i < active_.size(); ++i) active_[i].ready = polled[i].fd < 0 || polled[i].revents != 0;
  }

  void retire(std::size_t i) {
    heard_ = Clock::now();
    auto& outcome = outcomes_[active_[i].job];
    outcome = active_[i].talk->outcome();
    if (!outcome.status) log::debug(outcome.status.error().what);
    std::swap(active_[i], active_.back());
    active_.pop_back();
    if (watch_.done) watch_.done(outcome);
  }

  const Inventory& inventory_;
  const Identity& identity_;
  std::vector<NodeJob> jobs_;
  Deadline deadline_;
  const Watch& watch_;
  bool leaving_ = false;
  Clock::time_point heard_ = Clock::now();  ///< when a session ended
  std::vector<SessionOutcome> outcomes_;
  std::size_t next_ = 0;
  std::vector<Active> active_;
};

}  // namespace

std::string ssh_target(const Inventory& inventory, std::size_t node) {
  const std::string& address = inventory.nodes[node].address;
  const bool bracket = address.find(':') != std::string::npos;
  return inventory.ssh.user + "@" + (bracket ? "[" + address + "]" : address) + ":" +
         std::to_string(inventory.ssh.port);
}

Status check_known_hosts(const Ssh& ssh) {
  if (ssh.known_hosts.empty()) return {};
  auto readable = check_readable(ssh.known_hosts);
  if (readable || readable.error().kind == ErrorKind::unavailable) return {};
  return readable.error().with("ssh.known_hosts of the inventory");
}

Status check_login(const Inventory& inventory) {
  if (!inventory.ssh.jump.empty())
    if (auto jump = parse_jump(inventory.ssh.jump); !jump) return jump.error();
  if (auto readable = check_known_hosts(inventory.ssh); !readable) return readable;
  const auto identity = load_identity(inventory.ssh);
  return identity ? Status() : Status(identity.error());
}

Result<std::vector<SessionOutcome>> converse(const Inventory& inventory, std::vector<NodeJob> jobs, Deadline deadline,
                                             const Watch& watch) {
  if (!inventory.ssh.jump.empty())
    if (auto jump = parse_jump(inventory.ssh.jump); !jump) return jump.error();
  for (const NodeJob& job : jobs)
    if (job.node >= inventory.nodes.size())
      return Error{ErrorKind::bug, fmt::format("converse: node index {} of {}", job.node, inventory.nodes.size()), 0};
  if (auto readable = check_known_hosts(inventory.ssh); !readable) return readable.error();
  if (auto allowed = allow_descriptors(inventory.ssh, jobs.size()); !allowed) return allowed.error();
  const auto identity = load_identity(inventory.ssh);
  if (!identity) return identity.error();
  return Pool(inventory, *identity, std::move(jobs), deadline, watch).hold();
}

}  // namespace fabricgate::bootstrap
