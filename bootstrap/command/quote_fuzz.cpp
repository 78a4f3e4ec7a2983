// Reads the quoted form back with a reader of POSIX single quotes: the same bytes must come out, and nothing stays
// open.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bootstrap/command/quote.hpp"

namespace {

std::string unquote(const std::string& word) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\'')
      quoted = !quoted;
    else if (!quoted && word[i] == '\\' && i + 1 < word.size())
      out += word[++i];
    else if (!quoted && std::string(" \t\n;&|<>()$`\"*?[#~=%!{}").find(word[i]) != std::string::npos && word[i] != '%')
      std::abort();
    else
      out += word[i];
  }
  if (quoted) std::abort();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto quoted = fabricgate::bootstrap::quote_argument(input);
  const bool has_nul = input.find('\0') != std::string::npos;
  if (static_cast<bool>(quoted) == has_nul) std::abort();
  if (quoted && unquote(*quoted) != input) std::abort();
  return 0;
}
