#pragma once
/// A socket to one node, none of it blocking: name lookup, TCP connect, or the pipe of an `ssh -W` through the jump
/// host.
#include <netdb.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

struct JumpHost {
  std::string user, host;
  int port = 22;
};
/// [user@]host[:port], IPv6 hosts in brackets. Error (kind parse) names the text.
Result<JumpHost> parse_jump(const std::string& text);

/// The command that carries one connection through the jump host; strict about its host key, never asks anything.
std::vector<std::string> jump_command(const Ssh& ssh, const JumpHost& jump, const std::string& address);

class Dial {
 public:
  Dial(const Ssh& ssh, std::string address);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// Nullopt while it goes on. The descriptor is the caller's, once. `what` of an Error names the phase that failed.
  std::optional<Result<int>> advance();
  /// What to poll for (POLLOUT); -1 while a name is looked up.
  int descriptor() const { return socket_; }
  /// "name lookup" or "TCP connect": the phase that stalled.
  const char* phase() const;
  /// What the jump host's ssh said on standard error until now.
  std::string jump_message();

 private:
  struct Lookup;
  struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
  };

  bool take_numeric();
  std::optional<Error> look_up();
  std::optional<Result<int>> connect_next();
  std::optional<Result<int>> finish_connect();
  Result<int> through_jump();

  const Ssh& ssh_;
  std::string address_;
  std::shared_ptr<Lookup> lookup_;
  std::vector<Address> candidates_;
  std::size_t next_ = 0;
  int socket_ = -1;
  std::optional<Error> last_error_;
  pid_t helper_ = -1;
  int helper_stderr_ = -1;
  std::string helper_said_;
};

}  // namespace fabricgate::bootstrap
