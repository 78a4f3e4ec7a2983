#pragma once
/// From an address to an authenticated session: dial, handshake, host key against known_hosts, public key. Each phase
/// has the inventory's connect timeout; a failure says which phase and carries a cause of the catalogue.
#include <poll.h>

#include <memory>
#include <optional>
#include <string>

#include "bootstrap/ssh/dial.hpp"
#include "bootstrap/ssh/handles.hpp"
#include "bootstrap/ssh/identity.hpp"
#include "results/deadline.hpp"

namespace fabricgate::bootstrap {

class Login {
 public:
  /// Null identity: stop after the handshake, with the host key unchecked, to look at it.
  Login(const Ssh& ssh, const Identity* identity, std::string address);
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  /// As far as it goes without waiting; nullopt while it goes on.
  std::optional<Status> advance();
  /// Cause of the failure that advance() gave.
  const std::string& cause() const { return cause_; }
  pollfd wants() const;
  /// When advance() must be called even if nothing came.
  Deadline deadline() const { return deadline_; }

  /// The session once advance() succeeded; owned here.
  ssh_session session() const { return session_.get(); }
  /// Reads and writes what is pending of the session, without waiting.
  void pump();
  /// pollfd of the authenticated session.
  pollfd session_wants() const;

 private:
  enum class Phase { dial, handshake, host_key, auth, pause, done };

  std::optional<Status> step();
  std::optional<Status> dial();
  std::optional<Status> start_session(int socket);
  std::optional<Status> handshake();
  std::optional<Status> check_host_key();
  std::optional<Status> authenticate();
  std::optional<Status> stalled();
  std::optional<Status> dropped();
  void enter(Phase phase);
  void close_session();
  Status fail(const char* cause, ErrorKind kind, const std::string& what);
  std::string target() const;

  const Ssh& ssh_;
  const Identity* identity_;
  std::string address_;
  Phase phase_ = Phase::dial;
  Deadline deadline_;
  std::string cause_;
  int attempts_ = 1;
  std::unique_ptr<Dial> dial_;
  SshEvent event_;
  SshSession session_;
};

/// Lower-case "SHA256:…" fingerprint of the key the server showed, and its type: "ssh-ed25519 SHA256:…". Empty on
/// error.
std::string host_key_text(ssh_session session);

}  // namespace fabricgate::bootstrap
