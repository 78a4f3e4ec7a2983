#pragma once
/// The one place where remote arguments are quoted: SSH carries a command as one string for the login shell of the
/// user.
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// `argument` as one word of a POSIX shell; every byte but NUL is kept. Error (kind parse) for NUL, which no argument
/// of a process can hold.
Result<std::string> quote_argument(std::string_view argument);

/// The words of a command, quoted and joined. Error for an empty command and for NUL.
Result<std::string> quote_command(const std::vector<std::string>& arguments);

}  // namespace fabricgate::bootstrap
