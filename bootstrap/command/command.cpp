#include "bootstrap/command/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "bootstrap/command/quote.hpp"

namespace fabricgate::bootstrap {

std::vector<std::string> command_words(const Command& command, const std::string& user) {
  std::vector<std::string> words;
  if (command.as_root && user != "root") words = {"env", "LC_ALL=C", "sudo", "-n", "--"};
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  return words;
}

Result<std::string> command_line(const Command& command, const std::string& user) {
  return quote_command(command_words(command, user));
}

std::string refusal_of_sudo(const CommandResult& result) {
  if (result.exit_code == 0) return {};
  const auto says = [&](const char* text) { return result.err.find(text) != std::string::npos; };
  if (result.exit_code == 127 && says("sudo") && says("No such file or directory")) return "sudo is not installed";
  if (!says("sudo: ") && !says("sudoers")) return {};
  if (says("a password is required")) return "sudo wants a password";
  if (says("must have a tty") || says("no tty present") || says("a terminal is required"))
    return "sudo wants a terminal";
  if (says("is not in the sudoers") || says("is not allowed to") || says("may not run sudo"))
    return "sudo does not allow this user";
  return {};
}

std::string make_nonce() {
  unsigned char bytes[16];
  std::string text;
  if (::getentropy(bytes, sizeof bytes) != 0)
    std::fill(std::begin(bytes), std::end(bytes), static_cast<unsigned char>(::getpid()));
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace fabricgate::bootstrap
