#pragma once
/// What is run on a node, apart from how it gets there: over SSH (bootstrap/ssh) or by a process that is there already
/// (bootstrap/stage/here.hpp). Nothing in this folder knows SSH.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/host/host.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// One remote command. Arguments are quoted for the login shell; with a user other than root `sudo -n` stands before
/// them.
struct Command {
  std::vector<std::string> argv;
  std::shared_ptr<const std::string> input;  ///< standard input; null: empty. Shared: many nodes get the same file
  double timeout_s = 60;                     ///< of this command, from the request to its exit
  std::size_t max_output = std::size_t{16} << 20;          ///< bytes of stdout and of stderr; more is an error
  bool as_root = true;                                     ///< false: no sudo
  std::function<Status(std::string_view)> sink = nullptr;  ///< takes stdout instead of CommandResult::out when set
  std::string doing = {};   ///< "uploading /opt/x": what errors say instead of the command line; needed for scripts
  bool hold_input = false;  ///< standard input is ended only when all must end (Watch::stop), so that it hears of that
};

/// The commands of one node: called with null for the first, then with each result; nullopt ends the session. It is
/// called for an exit code other than 0 too; not after a timeout or a lost connection, which end the session with that
/// error.
using Conversation = std::function<std::optional<Command>(const CommandResult* previous)>;

/// The words to run for `command`: with `sudo -n` before them where `user` is not root. LC_ALL=C keeps sudo's refusals
/// readable for refusal_of_sudo().
std::vector<std::string> command_words(const Command& command, const std::string& user);
/// The same quoted as one line.
Result<std::string> command_line(const Command& command, const std::string& user);

/// Why sudo refused ("wants a password", "wants a terminal", "is not installed", "does not allow this user"), empty
/// when the command's own failure is all there is.
std::string refusal_of_sudo(const CommandResult& result);

/// 32 hexadecimal digits from the kernel's random source.
std::string make_nonce();

}  // namespace fabricgate::bootstrap
