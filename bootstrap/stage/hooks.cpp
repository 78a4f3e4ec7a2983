#include "bootstrap/stage/hooks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "bootstrap/command/quote.hpp"
#include "results/result.hpp"

extern char** environ;

namespace fabricgate::bootstrap {
namespace {

constexpr std::size_t at_once = 8;
constexpr double hook_timeout_s = 30;

struct Running {
  std::size_t at;
  pid_t pid;
  Deadline deadline;
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

Result<pid_t> start(const std::string& line) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 2, 1);  // stdout is for results
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

void end(const Running& running) {
  ::kill(-running.pid, SIGKILL);
  ::waitpid(running.pid, nullptr, 0);
}

/// Nullopt while it runs.
std::optional<std::optional<std::string>> look(const Running& running) {
  int status = 0;
  if (::waitpid(running.pid, &status, WNOHANG) == 0) {
    if (!running.deadline.passed()) return std::nullopt;
    end(running);
    return std::optional<std::string>("hooks.busy did not end in time, so the node counts as busy");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::optional<std::string>();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    return std::optional<std::string>("hooks.busy says that the node is busy");
  const std::string how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  return std::optional<std::string>("hooks.busy failed (" + how + "), so the node counts as busy");
}

}  // namespace

std::vector<std::optional<std::string>> ask_busy_hook(const Inventory& inventory, const std::vector<std::size_t>& nodes,
                                                      Deadline deadline, const std::function<bool()>& stop) {
  std::vector<std::optional<std::string>> busy(nodes.size());
  const auto hook = inventory.hooks.find("busy");
  if (hook == inventory.hooks.end()) return busy;
  std::vector<Running> running;
  for (std::size_t next = 0; next < nodes.size() || !running.empty();) {
    if (stop && stop()) {
      for (const Running& each : running) end(each);
      return busy;
    }
    for (; next < nodes.size() && running.size() < at_once; ++next) {
      const auto pid = start(line_of(hook->second, inventory.nodes[nodes[next]].name));
      if (pid)
        running.push_back({next, *pid, deadline.at_most(hook_timeout_s)});
      else
        busy[next] = pid.error().what;
    }
    std::erase_if(running, [&](const Running& each) {
      const auto ended = look(each);
      if (ended) busy[each.at] = *ended;
      return ended.has_value();
    });
    if (!running.empty()) ::poll(nullptr, 0, 5);
  }
  return busy;
}

}  // namespace fabricgate::bootstrap
