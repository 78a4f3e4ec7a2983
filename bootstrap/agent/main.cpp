/// fabricgate-agent: one request on standard input, one framed answer on standard output. See protocol.hpp.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "bootstrap/agent/persisted.hpp"
#include "bootstrap/steps/persist.hpp"
#include "inventory/host/real_host.hpp"
#include "results/verdict.hpp"

namespace {

using namespace fabricgate;

constexpr int usage_error = static_cast<int>(ExitCode::usage);
constexpr const char* usage =
    "usage: fabricgate-agent < request\n"
    "       fabricgate-agent apply-persisted    at boot: what a stage wrote to /etc/fabricgate/persisted.json\n"
    "Runs on a node, started by fabricgate over SSH: reads one JSON request from standard input, answers on standard\n"
    "output between marker lines. By hand: echo '{\"schema\":1,\"nonce\":\"00\",\"op\":\"facts\"}' | "
    "fabricgate-agent\n";

int complain(const std::string& what) {
  std::fprintf(stderr, "fabricgate-agent: %s\n", what.c_str());
  return usage_error;
}

Result<std::string> read_request() {
  const Deadline deadline = Deadline::in_seconds(60);
  std::string text;
  bool ended = false;
  for (;;) {
    auto body = bootstrap::request_body(text, ended);
    if (!body) return body.error();
    if (*body) return **body;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, deadline.left_ms()) == 0)
      return Error{ErrorKind::timeout, "no whole request on standard input within 60 s", 0};
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_from_errno("read standard input", errno);
    ended = n == 0;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Held until the process ends. A head that went away leaves its agent working: the next one must not work beside it.
Status lock_node(double wait_s, const std::function<bool()>& stop) {
  constexpr const char* path = "/run/fabricgate-agent.lock";
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return error_from_errno(std::string("open ") + path, errno);
  const Deadline deadline = Deadline::in_seconds(wait_s);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return error_from_errno(std::string("lock ") + path, errno);
    if (deadline.passed())
      return Error{ErrorKind::timeout,
                   std::string("another fabricgate-agent is applying on this node and holds ") + path, 0};
    if (stop && stop())
      return Error{ErrorKind::timeout, std::string("told to end while another fabricgate-agent holds ") + path, 0};
    ::usleep(50000);
  }
  return {};
}

/// True once the head has ended the input, or went away.
bool input_ended() {
  static bool ended = false;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  std::array<char, 4096> ignored;
  while (!ended && ::poll(&input, 1, 0) > 0) ended = ::read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0;
  return ended;
}

int serve_one() {
  auto body = read_request();
  if (!body) return complain(body.error().what);
  auto request = bootstrap::parse_request(*body);
  if (!request) return complain(request.error().what);
  RealHost host;
  bootstrap::AgentAnswer answer;
  const auto stop = request->watched ? std::function<bool()>(input_ended) : nullptr;
  Status locked;
  if (bootstrap::changes_node(request->op)) locked = lock_node(request->deadline_s / 2, stop);
  if (locked)
    answer = bootstrap::serve(*request, host, stop);
  else
    answer.error = locked.error().what;
  if (!write_all(bootstrap::frame_answer(answer, request->nonce)))
    return complain(std::string("write answer: ") + std::strerror(errno));
  return answer.error.empty() ? 0 : complain(answer.error);
}

/// For the unit that a stage leaves behind; its journal is systemd's.
int apply_at_boot() {
  constexpr double deadline_s = 300;
  RealHost host;
  if (auto locked = lock_node(deadline_s, {}); !locked) return complain(locked.error().what);
  const auto done = bootstrap::apply_persisted(host, bootstrap::persisted_file, deadline_s);
  if (!done) return complain(done.error().what);
  if (!write_all(bootstrap::to_text(*done))) return complain(std::string("write: ") + std::strerror(errno));
  return bootstrap::all_done(*done) ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // a head that goes away must not stop a step half way
  std::signal(SIGHUP, SIG_IGN);
  if (count == 1) return serve_one();
  const std::string_view option = arguments[1];
  if (count == 2 && option == "--version")
    return std::puts("fabricgate-agent " FABRICGATE_VERSION) < 0 ? usage_error : 0;
  if (count == 2 && option == "apply-persisted") return apply_at_boot();
  if (count == 2 && option == "--help") return std::fputs(usage, stdout) < 0 ? usage_error : 0;
  return complain("unknown argument '" + std::string(option) + "'\n" + usage);
}
