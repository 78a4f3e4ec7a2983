#pragma once
/// A long-running child in its own process group, watched under a deadline; our own interrupt is passed on to it.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

struct ChildOptions {
  std::vector<std::string> environment;  ///< NAME=value, added to ours
  double grace_s = 8;                    ///< between the polite signal and SIGKILL of the group
  std::function<void(std::string_view)> on_out,
      on_err;                            ///< each line, without its end; more than 64 KiB without one come in pieces
  std::function<bool()> stop;            ///< looked at several times a second; true ends the child politely
};

struct ChildResult {
  int exit_code = -1;  ///< 128 + signal when killed
  int signal = 0;      ///< that killed it, 0: it exited; ours where timed_out or stopped
  bool timed_out = false;
  bool stopped = false;  ///< by `stop` or an interrupt
};

/// Runs without a shell, standard input empty. Error when it could not be started, with the program and the reason; how it
/// ended is in the result. Should the calling thread be killed, the child gets SIGTERM.
Result<ChildResult> run_child(const std::vector<std::string>& arguments, Deadline deadline, const ChildOptions& options);

}  // namespace fabricgate::launch
