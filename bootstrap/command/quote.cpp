#include "bootstrap/command/quote.hpp"

#include <algorithm>

namespace fabricgate::bootstrap {
namespace {

/// Characters that no POSIX shell treats specially anywhere in a word. '=' and '~' are left out: first in a word they
/// are.
bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:,@%+-").find(c) != std::string_view::npos;
}

}  // namespace

Result<std::string> quote_argument(std::string_view argument) {
  if (const auto at = argument.find('\0'); at != std::string_view::npos)
    return Error{ErrorKind::parse, "quote_argument: byte " + std::to_string(at) + " is NUL, which no argument can hold",
                 0};
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return std::string(argument);
  std::string quoted = "'";
  for (char c : argument) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

Result<std::string> quote_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().empty())
    return Error{ErrorKind::parse, "quote_command: no command given", 0};
  std::string line;
  for (const std::string& argument : arguments) {
    auto quoted = quote_argument(argument);
    if (!quoted) return quoted.error();
    if (!line.empty()) line += ' ';
    line += *quoted;
  }
  return line;
}

}  // namespace fabricgate::bootstrap
