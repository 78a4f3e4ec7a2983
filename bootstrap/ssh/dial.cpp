#include "bootstrap/ssh/dial.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <thread>

extern char** environ;

namespace fabricgate::bootstrap {
namespace {

/// A node that loses power sends no reset: the kernel asks after 5 s without traffic and gives up 15 s later.
void notice_silence(int socket) {
  const int on = 1, idle_s = 5, interval_s = 5, probes = 3;
  const unsigned unanswered_ms = 20000;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

}  // namespace

/// A lookup cannot be cancelled: its thread may outlive the Dial, so both own it. A thread each, because those of
/// getaddrinfo_a are few, so that names whose server is silent hold up others, and glibc starts them unseen by tsan.
struct Dial::Lookup {
  const std::string name, service;
  int code = 0;
  addrinfo* found = nullptr;
  std::atomic<bool> done = false;  // code and found are written before it

  Lookup(const std::string& address, int port) : name(address), service(std::to_string(port)) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup() {
    if (found != nullptr) ::freeaddrinfo(found);
  }
  void run() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    code = ::getaddrinfo(name.c_str(), service.c_str(), &hints, &found);
    done.store(true, std::memory_order_release);
  }
};

Result<JumpHost> parse_jump(const std::string& text) {
  const Error wrong{ErrorKind::parse, "ssh.jump '" + text + "': expected [user@]host[:port]", 0};
  JumpHost jump;
  std::string rest = text;
  if (const auto at = rest.rfind('@'); at != std::string::npos) {
    jump.user = rest.substr(0, at);
    rest = rest.substr(at + 1);
    if (jump.user.empty() || jump.user.front() == '-') return wrong;
  }
  std::size_t colon = rest.rfind(':');
  if (!rest.empty() && rest.front() == '[') {
    const auto close = rest.find(']');
    if (close == std::string::npos) return wrong;
    jump.host = rest.substr(1, close - 1);
    colon = close + 1 < rest.size() ? close + 1 : std::string::npos;
    if (colon != std::string::npos && rest[colon] != ':') return wrong;
  } else {
    jump.host = rest.substr(0, colon);
  }
  if (colon != std::string::npos) {
    const char* end = rest.data() + rest.size();
    const auto [stop, code] = std::from_chars(rest.data() + colon + 1, end, jump.port);
    if (code != std::errc{} || stop != end || jump.port < 1 || jump.port > 65535) return wrong;
  }
  if (jump.host.empty() || jump.host.front() == '-') return wrong;
  return jump;
}

std::vector<std::string> jump_command(const Ssh& ssh, const JumpHost& jump, const std::string& address) {
  const bool ipv6 = address.find(':') != std::string::npos;
  std::vector<std::string> argv{
      "ssh",
      "-F",
      "none",
      "-o",
      "BatchMode=yes",
      "-o",
      "StrictHostKeyChecking=yes",
      "-o",
      "ConnectTimeout=" + std::to_string(std::max(1, static_cast<int>(ssh.connect_timeout_s)))};
  if (!ssh.known_hosts.empty())
    argv.insert(argv.end(),
                {"-o", "UserKnownHostsFile=\"" + ssh.known_hosts + "\"", "-o", "GlobalKnownHostsFile=/dev/null"});
  if (!ssh.key.empty()) argv.insert(argv.end(), {"-i", ssh.key});
  if (!jump.user.empty()) argv.insert(argv.end(), {"-l", jump.user});
  argv.insert(argv.end(), {"-p", std::to_string(jump.port), "-W",
                           (ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(ssh.port), "--", jump.host});
  return argv;
}

Dial::Dial(const Ssh& ssh, std::string address) : ssh_(ssh), address_(std::move(address)) {}

Dial::~Dial() {
  if (socket_ >= 0) ::close(socket_);
  if (helper_stderr_ >= 0) ::close(helper_stderr_);
  if (helper_ > 0) {
    ::kill(helper_, SIGKILL);
    while (::waitpid(helper_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

const char* Dial::phase() const {
  if (helper_ > 0) return "connect through the jump host";
  return candidates_.empty() ? "name lookup" : "TCP connect";
}

bool Dial::take_numeric() {
  Address a;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&a.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&a.storage);
  if (::inet_pton(AF_INET, address_.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(ssh_.port));
    a.length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address_.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(ssh_.port));
    a.length = sizeof *v6;
  } else {
    return false;
  }
  candidates_.push_back(a);
  return true;
}

/// Starts the lookup, or takes its answer over into candidates_.
std::optional<Error> Dial::look_up() {
  if (!lookup_) {
    lookup_ = std::make_shared<Lookup>(address_, ssh_.port);
    try {
      std::thread([lookup = lookup_] { lookup->run(); }).detach();
    } catch (const std::system_error& error) {
      return Error{ErrorKind::unavailable, "name lookup of '" + address_ + "': thread: " + error.what(),
                   error.code().value()};
    }
  }
  if (!lookup_->done.load(std::memory_order_acquire)) return std::nullopt;
  if (const int code = lookup_->code; code != 0)
    return Error{ErrorKind::unavailable, "name lookup of '" + address_ + "': " + ::gai_strerror(code), code};
  for (const addrinfo* found = lookup_->found; found != nullptr; found = found->ai_next) {
    Address a;
    a.length = found->ai_addrlen;
    std::memcpy(&a.storage, found->ai_addr, found->ai_addrlen);
    candidates_.push_back(a);
  }
  lookup_.reset();
  if (candidates_.empty()) return Error{ErrorKind::unavailable, "name lookup of '" + address_ + "': no address", 0};
  return std::nullopt;
}

std::optional<Result<int>> Dial::connect_next() {
  while (next_ < candidates_.size()) {
    const Address& to = candidates_[next_++];
    socket_ = ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) {
      last_error_ = error_from_errno("socket", errno);
      continue;
    }
    const int on = 1;  // small packets of a handshake must not wait for each other's acknowledgement
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    notice_silence(socket_);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to.storage), to.length) == 0 || errno == EINPROGRESS)
      return std::nullopt;
    last_error_ = error_from_errno("TCP connect", errno);
    ::close(std::exchange(socket_, -1));
  }
  return Result<int>(*last_error_);
}

std::optional<Result<int>> Dial::finish_connect() {
  pollfd wait{socket_, POLLOUT, 0};
  if (::poll(&wait, 1, 0) <= 0) return std::nullopt;
  int code = 0;
  socklen_t length = sizeof code;
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &length);
  if (code == 0) return Result<int>(std::exchange(socket_, -1));
  last_error_ = error_from_errno("TCP connect", code);
  ::close(std::exchange(socket_, -1));
  return connect_next();
}

Result<int> Dial::through_jump() {
  const auto jump = parse_jump(ssh_.jump);
  if (!jump) return jump.error();
  const auto words = jump_command(ssh_, *jump, address_);
  int ends[2], errors[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return error_from_errno("socketpair", errno);
  if (::pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
    const int code = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return error_from_errno("pipe2", code);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int code = ::posix_spawnp(&helper_, "ssh", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ::close(errors[1]);
  helper_stderr_ = errors[0];
  if (code == 0) return ends[0];
  helper_ = -1;
  ::close(ends[0]);
  return error_from_errno("ssh.jump needs the ssh client: spawn ssh", code);
}

std::string Dial::jump_message() {
  char buffer[1024];
  for (ssize_t n; helper_stderr_ >= 0 && (n = ::read(helper_stderr_, buffer, sizeof buffer)) > 0;)
    if (helper_said_.size() < 4096) helper_said_.append(buffer, static_cast<std::size_t>(n));
  std::string text = helper_said_;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

std::optional<Result<int>> Dial::advance() {
  if (!ssh_.jump.empty()) return through_jump();
  if (candidates_.empty() && !take_numeric())
    if (auto error = look_up()) return Result<int>(*error);
  if (candidates_.empty()) return std::nullopt;
  if (socket_ < 0)
    if (auto failed = connect_next()) return failed;
  return finish_connect();
}

}  // namespace fabricgate::bootstrap
