#include "bootstrap/ssh/login.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fabricgate::bootstrap {
namespace {

/// sshd drops connections beyond MaxStartups without a word; a few tries with growing pauses ride over that.
constexpr int max_attempts = 5;
constexpr double first_pause_s = 0.15;

constexpr const char* ciphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes128-ctr";

std::string library_error(ssh_session session) {
  const std::string text = ssh_get_error(session);
  return text.empty() ? "no reason given" : text;
}

/// Null for success, else the option that libssh refused.
const char* set_options(ssh_session session, const Ssh& ssh, const std::string& address, int socket) {
  const int off = 0, no_log = SSH_LOG_NOLOG, port = ssh.port;
  const socket_t fd = socket;
  if (ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &off) != SSH_OK) return "PROCESS_CONFIG";
  if (ssh_options_set(session, SSH_OPTIONS_LOG_VERBOSITY, &no_log) != SSH_OK) return "LOG_VERBOSITY";
  if (ssh_options_set(session, SSH_OPTIONS_HOST, address.c_str()) != SSH_OK) return "HOST";
  if (ssh_options_set(session, SSH_OPTIONS_PORT, &port) != SSH_OK) return "PORT";
  if (ssh_options_set(session, SSH_OPTIONS_USER, ssh.user.c_str()) != SSH_OK) return "USER";
  if (!ssh.known_hosts.empty()) {
    if (ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, ssh.known_hosts.c_str()) != SSH_OK) return "KNOWNHOSTS";
    if (ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null") != SSH_OK) return "GLOBAL_KNOWNHOSTS";
  }
  // Preference only: a library in FIPS mode may refuse the list and keeps its own.
  (void)ssh_options_set(session, SSH_OPTIONS_CIPHERS_C_S, ciphers);
  (void)ssh_options_set(session, SSH_OPTIONS_CIPHERS_S_C, ciphers);
  if (ssh_options_set(session, SSH_OPTIONS_FD, &fd) != SSH_OK) return "FD";
  return nullptr;
}

pollfd wants_of(ssh_session session) {
  const int flags = ssh_get_poll_flags(session);
  return {ssh_get_fd(session), static_cast<short>(POLLIN | (flags & SSH_WRITE_PENDING ? POLLOUT : 0)), 0};
}

}  // namespace

std::string host_key_text(ssh_session session) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK) return {};
  const SshKey key(raw);
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (ssh_get_publickey_hash(raw, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK) return {};
  const SshString text(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length));
  ssh_clean_pubkey_hash(&hash);
  if (!text) return {};
  return std::string(ssh_key_type_to_char(ssh_key_type(raw))) + " " + text.get();
}

Login::Login(const Ssh& ssh, const Identity* identity, std::string address)
    : ssh_(ssh),
      identity_(identity),
      address_(std::move(address)),
      deadline_(Deadline::in_seconds(ssh.connect_timeout_s)),
      dial_(std::make_unique<Dial>(ssh_, address_)) {}

Login::~Login() {
  close_session();
}

/// After a disconnect libssh leaves a descriptor that was given to it open, else it closes it, and versions differ: the
/// inode tells whether the number still means our socket.
void Login::close_session() {
  if (!session_) return;
  const int socket = ssh_get_fd(session_.get());
  struct stat before {
  }, after{};
  const bool known = socket >= 0 && ::fstat(socket, &before) == 0;
  if (event_) ssh_event_remove_session(event_.get(), session_.get());
  if (ssh_is_connected(session_.get()) != 0) ssh_disconnect(session_.get());
  event_.reset();
  session_.reset();
  if (known && ::fstat(socket, &after) == 0 && after.st_ino == before.st_ino && after.st_dev == before.st_dev)
    ::close(socket);
}

std::string Login::target() const {
  const bool bracket = address_.find(':') != std::string::npos;
  return ssh_.user + "@" + (bracket ? "[" + address_ + "]" : address_) + ":" + std::to_string(ssh_.port);
}

void Login::enter(Phase phase) {
  phase_ = phase;
  deadline_ = Deadline::in_seconds(ssh_.connect_timeout_s);
}

Status Login::fail(const char* cause, ErrorKind kind, const std::string& what) {
  cause_ = cause;
  std::string text = "ssh " + target() + ": " + what;
  if (dial_)
    if (const std::string said = dial_->jump_message(); !said.empty())
      text += " (jump host " + ssh_.jump + ": " + said + ")";
  return Error{kind, text, 0};
}

pollfd Login::wants() const {
  if (phase_ == Phase::pause) return {-1, 0, 0};
  if (phase_ == Phase::dial) return {dial_->descriptor(), POLLOUT, 0};
  return wants_of(session_.get());
}

pollfd Login::session_wants() const {
  return wants_of(session_.get());
}

void Login::pump() {
  (void)ssh_event_dopoll(event_.get(), 0);
}

std::optional<Status> Login::advance() {
  for (;;) {
    const Phase before = phase_;
    if (auto ended = step()) return ended;
    if (phase_ == before) return deadline_.passed() ? stalled() : std::nullopt;
  }
}

std::optional<Status> Login::step() {
  switch (phase_) {
    case Phase::dial:
      return dial();
    case Phase::handshake:
      return handshake();
    case Phase::host_key:
      return check_host_key();
    case Phase::auth:
      return authenticate();
    case Phase::pause:
      return std::nullopt;
    case Phase::done:
      return Status{};
  }
  return std::nullopt;
}

std::optional<Status> Login::stalled() {
  const std::string after = " within " + std::to_string(static_cast<int>(ssh_.connect_timeout_s * 1000)) + " ms";
  switch (phase_) {
    case Phase::dial:
      return fail("ssh.unreachable", ErrorKind::timeout, std::string(dial_->phase()) + ": no answer" + after);
    case Phase::handshake:
      if (ssh_get_serverbanner(session_.get()) == nullptr)
        return fail("ssh.unreachable", ErrorKind::timeout, "banner: connected, but no SSH banner came" + after);
      return fail("ssh.unreachable", ErrorKind::timeout,
                  std::string("key exchange: the server hangs after its banner '") +
                      ssh_get_serverbanner(session_.get()) + "'" + after);
    case Phase::auth:
      return fail("ssh.unreachable", ErrorKind::timeout, "authentication: no answer to the key" + after);
    case Phase::pause:
      enter(Phase::dial);
      dial_ = std::make_unique<Dial>(ssh_, address_);
      return advance();
    default:
      return fail("ssh.unreachable", ErrorKind::bug, "stalled in no phase");
  }
}

std::optional<Status> Login::dial() {
  auto connected = dial_->advance();
  if (!connected) return std::nullopt;
  if (!*connected) return fail("ssh.unreachable", connected->error().kind, connected->error().what);
  return start_session(**connected);
}

std::optional<Status> Login::start_session(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  ::fcntl(socket, F_SETFL, flags | O_NONBLOCK);
  session_.reset(ssh_new());
  if (!session_) {
    ::close(socket);
    return Status(Error{ErrorKind::bug, "ssh_new: out of memory", 0});
  }
  if (const char* refused = set_options(session_.get(), ssh_, address_, socket)) {
    ::close(socket);
    return fail("ssh.unreachable", ErrorKind::native,
                std::string("libssh refuses option ") + refused + ": " + library_error(session_.get()));
  }
  ssh_set_blocking(session_.get(), 0);
  enter(Phase::handshake);
  return std::nullopt;
}

/// Closed before a banner: worth another try, see max_attempts.
std::optional<Status> Login::dropped() {
  const std::string reason = library_error(session_.get());
  const bool jump_spoke = !ssh_.jump.empty() && !dial_->jump_message().empty();
  if (attempts_ >= max_attempts || jump_spoke)
    return fail("ssh.unreachable", ErrorKind::io,
                "banner: the server closed the connection before its banner, " + std::to_string(attempts_) +
                    " times (" + reason + ")");
  close_session();
  enter(Phase::pause);
  deadline_ = Deadline::in_seconds(first_pause_s * (1 << (attempts_ - 1)));
  ++attempts_;
  return std::nullopt;
}

std::optional<Status> Login::handshake() {
  const int code = ssh_connect(session_.get());
  if (code == SSH_AGAIN) return std::nullopt;
  if (code != SSH_OK) {
    if (ssh_get_serverbanner(session_.get()) == nullptr) return dropped();
    return fail("ssh.unreachable", ErrorKind::native, "key exchange: " + library_error(session_.get()));
  }
  event_.reset(ssh_event_new());
  if (!event_ || ssh_event_add_session(event_.get(), session_.get()) != SSH_OK)
    return fail("ssh.unreachable", ErrorKind::bug, "ssh_event_add_session failed");
  enter(identity_ != nullptr ? Phase::host_key : Phase::done);
  return std::nullopt;
}

std::optional<Status> Login::check_host_key() {
  const std::string shown = host_key_text(session_.get());
  const std::string file = ssh_.known_hosts.empty() ? "known_hosts" : ssh_.known_hosts;
  switch (ssh_session_is_known_server(session_.get())) {
    case SSH_KNOWN_HOSTS_OK:
      enter(Phase::auth);
      return std::nullopt;
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      return fail("ssh.host_key_changed", ErrorKind::denied,
                  "host key " + shown + " is not the one recorded in " + file);
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND:
      return fail("ssh.host_key_unknown", ErrorKind::denied, "host key " + shown + " is not in " + file);
    default:
      return fail("ssh.host_key_unknown", ErrorKind::native,
                  "host key " + shown + " could not be checked against " + file + ": " + library_error(session_.get()));
  }
}

std::optional<Status> Login::authenticate() {
  const int code = identity_->key ? ssh_userauth_publickey(session_.get(), nullptr, identity_->key.get())
                                  : ssh_userauth_agent(session_.get(), nullptr);
  if (code == SSH_AUTH_AGAIN) return std::nullopt;
  if (code == SSH_AUTH_SUCCESS) {
    enter(Phase::done);
    return std::nullopt;
  }
  if (code == SSH_AUTH_ERROR && ssh_is_connected(session_.get()) == 0)
    return fail("ssh.unreachable", ErrorKind::io,
                "authentication: connection lost (" + library_error(session_.get()) + ")");
  const std::string more = code == SSH_AUTH_PARTIAL ? "; the server wants a second factor" : "";
  return fail("ssh.permission_denied", ErrorKind::denied, "login refused for " + identity_->source + more);
}

}  // namespace fabricgate::bootstrap
