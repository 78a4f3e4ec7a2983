#include "bootstrap/stage/hooks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "bootstrap/command/quote.hpp"
#include "results/result.hpp"

extern char** environ;

namespace fabricgate::bootstrap {
namespace {

constexpr std::size_t at_once = 8;

struct Hook {
  const char* name;
  double timeout_s;
  const char* refused;      ///< what exit code 1 says
  const char* consequence;  ///< of any other failure
};
constexpr Hook busy_hook{"busy", 30, "says that the node is busy", "so the node counts as busy"};
constexpr Hook drain_hook{"drain", 600, "could not drain the node", "so the node is not rebooted"};

constexpr std::size_t kept_bytes = 4096;  ///< of what a hook says: its end, where the reason stands
constexpr std::size_t shown_bytes = 200;

struct Running {
  std::size_t at;
  pid_t pid;
  int output;
  Deadline deadline;
  const Hook* hook;
  std::string said = {};
};

/// The hook's command line with every {node} replaced by the quoted name.
std::string line_of(const std::string& hook, const std::string& node) {
  const auto quoted = quote_argument(node);
  const std::string name = quoted ? *quoted : "''";
  std::string line = hook;
  for (std::size_t at = 0; (at = line.find("{node}", at)) != std::string::npos; at += name.size())
    line.replace(at, 6, name);
  return line;
}

/// Takes what is there, at most a pipe's content: who writes without end must not hold us up, and not fill our memory.
void listen(Running& running) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(running.output, buffer.data(), buffer.size());
  if (got <= 0) return;
  running.said.append(buffer.data(), static_cast<std::size_t>(got));
  if (running.said.size() > kept_bytes) running.said.erase(0, running.said.size() - kept_bytes);
}

/// ": " and the last line the hook said, or nothing.
std::string last_words(const Running& running) {
  const std::size_t last = running.said.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "";
  const std::string text = running.said.substr(0, last + 1);
  std::string line = text.substr(text.rfind('\n') + 1);
  if (line.size() > shown_bytes) line.resize(shown_bytes);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return ": " + line;
}

/// `output`: both outputs of the hook, the end to write on.
Result<pid_t> spawn(const std::string& line, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int target : {1, 2}) ::posix_spawn_file_actions_adddup2(&actions, output, target);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that a timeout ends its children too
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const char* argv[] = {"sh", "-c", line.c_str(), nullptr};
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, const_cast<char**>(argv), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) return error_from_errno("spawn /bin/sh", code);
  return pid;
}

Result<Running> start(const std::string& line, std::size_t at, Deadline deadline, const Hook& hook) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return error_from_errno(std::string("pipe for hooks.") + hook.name, errno);
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  const auto pid = spawn(line, pipe[1]);
  ::close(pipe[1]);
  if (pid) return Running{at, *pid, pipe[0], deadline, &hook};
  ::close(pipe[0]);
  return pid.error();
}

void end(const Running& running) {
  ::kill(-running.pid, SIGKILL);
  ::waitpid(running.pid, nullptr, 0);
}

/// Nullopt while it runs.
std::optional<std::optional<std::string>> look(Running& running) {
  int status = 0;
  listen(running);
  const std::string name = std::string("hooks.") + running.hook->name, after = running.hook->consequence;
  if (::waitpid(running.pid, &status, WNOHANG) == 0) {
    if (!running.deadline.passed()) return std::nullopt;
    end(running);
    return std::optional<std::string>(name + " did not end in time, " + after + last_words(running));
  }
  listen(running);  // what it said last
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::optional<std::string>();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    return std::optional<std::string>(name + " " + running.hook->refused + last_words(running));
  const std::string how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  return std::optional<std::string>(name + " failed (" + how + "), " + after + last_words(running));
}

struct Asked {
  const Inventory& inventory;
  const std::vector<std::size_t>& nodes;
  Deadline deadline;
  const std::function<bool()>& stop;
};

std::vector<std::optional<std::string>> ask(const Hook& hook, const Asked& asked) {
  std::vector<std::optional<std::string>> refused(asked.nodes.size());
  const auto line = asked.inventory.hooks.find(hook.name);
  if (line == asked.inventory.hooks.end()) return refused;
  std::vector<Running> running;
  for (std::size_t next = 0; next < asked.nodes.size() || !running.empty();) {
    if (asked.stop && asked.stop()) {
      for (const Running& each : running) end(each), ::close(each.output);
      return refused;
    }
    for (; next < asked.nodes.size() && running.size() < at_once; ++next) {
      auto started = start(line_of(line->second, asked.inventory.nodes[asked.nodes[next]].name), next,
                           asked.deadline.at_most(hook.timeout_s), hook);
      if (started)
        running.push_back(std::move(*started));
      else
        refused[next] = started.error().what;
    }
    std::erase_if(running, [&](Running& each) {
      const auto ended = look(each);
      if (!ended) return false;
      refused[each.at] = *ended;
      ::close(each.output);
      return true;
    });
    if (!running.empty()) ::poll(nullptr, 0, 5);
  }
  return refused;
}

}  // namespace

std::vector<std::optional<std::string>> ask_busy_hook(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                                      Deadline deadline, const std::function<bool()>& stop) {
  return ask(busy_hook, {inventory, nodes, deadline, stop});
}

std::map<std::size_t, std::string> run_drain_hook(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                                  Deadline deadline, const std::function<bool()>& stop) {
  const auto refused = ask(drain_hook, {inventory, nodes, deadline, stop});
  std::map<std::size_t, std::string> out;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (refused[i]) out[nodes[i]] = *refused[i];
  return out;
}

}  // namespace fabricgate::bootstrap
