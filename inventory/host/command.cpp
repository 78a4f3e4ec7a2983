#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "inventory/host/real_host.hpp"

extern char** environ;

namespace fabricgate {
namespace {

/// For a command that was told to end.
constexpr double leave_s = 1.5;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void set(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor in, out;

  Status open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return error_from_errno("pipe", errno);
    in.set(ends[0]);
    out.set(ends[1]);
    return {};
  }
};

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) return error_from_errno("run " + name, errno);
    return name;
  }
  const char* path = std::getenv("PATH");
  const std::string folders =
      std::string(path ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string candidate = folders.substr(begin, end - begin) + "/" + name;
    if (candidate[0] == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return Error{ErrorKind::unavailable, "run " + name + ": no such program", ENOENT};
}

std::vector<std::string> child_environment() {
  std::vector<std::string> out{"LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"};
  std::string path = "/usr/bin:/bin";
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (text.rfind("PATH=", 0) == 0)
      path = text.substr(5);
    else if (text.rfind("LC_ALL=", 0) != 0 && text.rfind("DEBIAN_FRONTEND=", 0) != 0)
      out.push_back(text);
  }
  out.push_back("PATH=" + path + ":/usr/local/sbin:/usr/sbin:/sbin");
  return out;
}

/// An anonymous file as standard input: no writer to serve, no SIGPIPE.
Status open_input(const std::string& input, Descriptor& fd) {
  if (input.empty()) {
    fd.set(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return fd.get() < 0 ? Status(error_from_errno("open /dev/null", errno)) : Status();
  }
  fd.set(::memfd_create("fabricgate-input", MFD_CLOEXEC));
  if (fd.get() < 0) return error_from_errno("memfd_create", errno);
  for (std::size_t done = 0; done < input.size();) {
    const ssize_t n = ::write(fd.get(), input.data() + done, input.size() - done);
    if (n < 0 && errno != EINTR) return error_from_errno("write command input", errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return {};
}

/// A pipe that stays open behind the input. It takes all of it at once: what does not fit is refused, not waited for.
Status open_held_input(const std::string& input, Pipe& pipe) {
  if (auto status = pipe.open(); !status) return status;
  (void)::fcntl(pipe.out.get(), F_SETPIPE_SZ, static_cast<int>(input.size()));
  (void)::fcntl(pipe.out.get(), F_SETFL, O_NONBLOCK);
  const ssize_t written = ::write(pipe.out.get(), input.data(), input.size());
  if (written == static_cast<ssize_t>(input.size())) return {};
  return error_from_errno("write command input of " + std::to_string(input.size()) + " bytes",
                          written < 0 ? errno : EFBIG);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// The child leads its own process group, so that a deadline reaches everything it started.
Result<pid_t> spawn(const std::string& program, std::vector<std::string> arguments, const std::array<int, 3>& fds) {
  std::vector<std::string> environment = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (int target = 0; target < 3; ++target)
    ::posix_spawn_file_actions_adddup2(&actions, fds[static_cast<std::size_t>(target)], target);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, pointers(arguments).data(),
                                 pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) return error_from_errno("run " + program, code);
  return pid;
}

/// Reads what is there; closes at end of file.
void drain(Descriptor& fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) return fd.close();
  const std::size_t room = command_output_limit - std::min(command_output_limit, into.size());
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A command and our ends of its pipes.
struct Running {
  pid_t pid = -1;
  Pipe in, out, err;
  const std::function<bool()>* stop = nullptr;  ///< ends the input; null: the input has its end
  bool told = false;                            ///< `stop` was true

  /// The deadline that counts from now on.
  Deadline heed(Deadline deadline) {
    if (told || stop == nullptr || !(*stop)()) return deadline;
    told = true;
    in.out.close();
    return deadline.at_most(leave_s);
  }
};

enum class End { ended, killed, left };

/// A background process that keeps the pipes open after its parent ended is not waited for longer than 0.2 s of
/// silence. A child that was told to end and has not is left to finish what it is in.
End collect(Running& child, Deadline deadline, CommandResult& result) {
  Pipe &out = child.out, &err = child.err;
  const pid_t pid = child.pid;
  int status = 0;
  bool ended = false;
  while (deadline = child.heed(deadline), !deadline.passed()) {
    std::array<pollfd, 2> polled{{{out.in.get(), POLLIN, 0}, {err.in.get(), POLLIN, 0}}};
    const bool open = polled[0].fd >= 0 || polled[1].fd >= 0;
    if (ended && !open) break;
    const int slice = open ? (ended ? 200 : 50) : 2;
    const int ready = ::poll(polled.data(), polled.size(), std::min(slice, deadline.left_ms()));
    if (ready > 0 && polled[0].revents) drain(out.in, result.out);
    if (ready > 0 && polled[1].revents) drain(err.in, result.err);
    if (ended && ready == 0) break;
    if (!ended && ::waitpid(pid, &status, WNOHANG) == pid) ended = true;
  }
  if (!ended && ::waitpid(pid, &status, WNOHANG) == pid) ended = true;
  if (!ended && child.told) return End::left;
  if (!ended) {
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  result.exit_code = exit_code_of(status);
  return ended ? End::ended : End::killed;
}

/// `child` with its input opened.
Result<CommandResult> run(Running& child, const std::vector<std::string>& arguments, Deadline deadline) {
  if (arguments.empty()) return Error{ErrorKind::bug, "run: empty command", 0};
  auto program = find_program(arguments.front());
  if (!program) return program.error();
  if (auto status = child.out.open(); !status) return status.error();
  if (auto status = child.err.open(); !status) return status.error();
  auto pid = spawn(*program, arguments, {child.in.in.get(), child.out.out.get(), child.err.out.get()});
  if (!pid) return pid.error();
  child.pid = *pid;
  child.in.in.close();
  child.out.out.close();
  child.err.out.close();
  CommandResult result;
  const End end = collect(child, deadline, result);
  if (end == End::ended) return result;
  return Error{ErrorKind::timeout,
               "run " + arguments.front() +
                   (end == End::killed ? ": no end within the deadline, its process group was killed"
                                       : ": told to end, and left to finish what it is in"),
               0};
}

}  // namespace

Result<CommandResult> run_command(const std::vector<std::string>& arguments, Deadline deadline,
                                  const std::string& input) {
  Running child;
  if (auto status = open_input(input, child.in.in); !status) return status.error();
  return run(child, arguments, deadline);
}

Result<CommandResult> run_command_until(const std::vector<std::string>& arguments, Deadline deadline,
                                        const std::string& input, const std::function<bool()>& stop) {
  Running child;
  child.stop = &stop;
  if (auto status = open_held_input(input, child.in); !status) return status.error();
  return run(child, arguments, deadline);
}

}  // namespace fabricgate
