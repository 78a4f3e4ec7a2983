#include "launch/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "launch/interrupt.hpp"

extern char** environ;

namespace fabricgate::launch {
namespace {

constexpr std::size_t longest_line = 65536;  ///< longer ones come in pieces
constexpr int reads_at_once = 64;  ///< 1 MiB; then the deadline is looked at again, whoever writes without end

/// One output of the child, cut into lines.
struct Stream {
  int fd = -1;
  std::string rest;
  const std::function<void(std::string_view)>* sink = nullptr;

  void emit(std::string_view line) const {
    if (*sink) (*sink)(line);
  }
  /// False at the end of the stream.
  bool drain() {
    std::array<char, 16384> buffer;
    for (int reads = 0; reads < reads_at_once; ++reads) {
      const ssize_t got = ::read(fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      if (got == 0) return false;
      rest.append(buffer.data(), static_cast<std::size_t>(got));
      std::size_t begin = 0;
      for (auto end = rest.find('\n'); end != std::string::npos; begin = end + 1, end = rest.find('\n', begin))
        emit(std::string_view(rest).substr(begin, end - begin));
      rest.erase(0, begin);
      if (rest.size() < longest_line) continue;
      emit(rest);
      rest.clear();
    }
    return true;
  }
  void close() {
    if (!rest.empty()) emit(rest);
    rest.clear();
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

struct Pipes {
  std::array<int, 2> out{-1, -1}, err{-1, -1};
  std::array<int, 2> failed{-1, -1};  ///< errno of a program that could not be started; empty where it was
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

/// The signal is that of the death of the thread that forked, which is in Watch::run until the child is gone.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(128 + SIGTERM);  // it died before we asked
}

[[noreturn]] void become(char* const* arguments, char* const* environment, const Pipes& pipes, pid_t parent) {
  setpgid(0, 0);
  die_with(parent);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(pipes.out[1], 1);
  dup2(pipes.err[1], 2);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvpe(arguments[0], arguments, environment);
  const int code = errno;
  (void)!write(pipes.failed[1], &code, sizeof code);
  _exit(127);
}

/// errno of the exec, 0 once the program runs.
int exec_error(const Pipes& pipes) {
  int code = 0;
  ssize_t got = 0;
  do got = ::read(pipes.failed[0], &code, sizeof code);
  while (got < 0 && errno == EINTR);
  return got == sizeof code ? code : 0;
}

void close_both(std::array<int, 2>& ends) {
  for (int& fd : ends) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
}

void close_all(Pipes& pipes) {
  for (auto* ends : {&pipes.out, &pipes.err, &pipes.failed}) close_both(*ends);
}

Result<pid_t> start(const std::vector<std::string>& arguments, const ChildOptions& options, Pipes& pipes) {
  std::vector<std::string> environment;
  for (char** i = environ; *i; ++i) environment.emplace_back(*i);
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);
  for (auto* ends : {&pipes.out, &pipes.err, &pipes.failed})
    if (pipe2(ends->data(), O_CLOEXEC) != 0) return error_from_errno("pipe for " + arguments[0], errno);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(argv.data(), envp.data(), pipes, self);
  if (pid < 0) return error_from_errno("fork for " + arguments[0], errno);
  setpgid(pid, pid);
  for (auto* ends : {&pipes.out, &pipes.err, &pipes.failed}) ::close(std::exchange((*ends)[1], -1));
  const int code = exec_error(pipes);
  ::close(std::exchange(pipes.failed[0], -1));
  if (code != 0) {
    waitpid(pid, nullptr, 0);
    return error_from_errno(arguments[0] + " could not be started", code);
  }
  fcntl(pipes.out[0], F_SETFL, O_NONBLOCK);
  fcntl(pipes.err[0], F_SETFL, O_NONBLOCK);
  return pid;
}

/// Watches one child until it is gone.
class Watch {
 public:
  Watch(pid_t pid, const Pipes& pipes, const ChildOptions& options, Deadline deadline)
      : pid_(pid), options_(options), deadline_(deadline) {
    out_ = {.fd = pipes.out[0], .rest = {}, .sink = &options.on_out};
    err_ = {.fd = pipes.err[0], .rest = {}, .sink = &options.on_err};
  }

  ChildResult run() {
    int status = 0;
    for (;;) {
      pump(100);
      const pid_t got = waitpid(pid_, &status, WNOHANG);
      if (got == pid_ || (got < 0 && errno != EINTR)) break;
      look();
    }
    kill(-pid_, SIGKILL);  // what the child left in its group
    pump(0);
    out_.close();
    err_.close();
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    return result_;
  }

 private:
  void pump(int wait_ms) {
    std::array<pollfd, 2> fds{pollfd{out_.fd, POLLIN, 0}, pollfd{err_.fd, POLLIN, 0}};
    poll(fds.data(), fds.size(), wait_ms);
    for (Stream* stream : {&out_, &err_})
      if (stream->fd >= 0 && !stream->drain()) stream->close();
    if (out_.fd < 0 && err_.fd < 0 && wait_ms > 0) poll(nullptr, 0, wait_ms / 5);
  }

  void look() {
    if (kill_at_) {
      if (kill_at_->passed()) kill(-pid_, SIGKILL);
      return;
    }
    const bool late = deadline_.passed();
    const bool stop = interrupted() || (options_.stop && options_.stop());
    if (!late && !stop) return;
    result_.timed_out = late && !stop;
    result_.stopped = stop;
    kill(pid_, SIGTERM);
    kill_at_ = Deadline::in_seconds(options_.grace_s);
  }

  pid_t pid_;
  const ChildOptions& options_;
  Deadline deadline_;
  Stream out_, err_;
  ChildResult result_;
  std::optional<Deadline> kill_at_;
};

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& arguments, Deadline deadline, const ChildOptions& options) {
  if (arguments.empty()) return Error{ErrorKind::bug, "run_child: no program", 0};
  Pipes pipes;
  auto pid = start(arguments, options, pipes);
  if (!pid) {
    close_all(pipes);
    return pid.error();
  }
  return Watch(*pid, pipes, options, deadline).run();
}

}  // namespace fabricgate::launch
