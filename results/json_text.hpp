#pragma once
/// What the JSON library says is wrong, for a person: "key 'limits_sha256' not found".
#include <nlohmann/json.hpp>
#include <string>

namespace fabricgate {

/// Without the library's own number for it in brackets.
inline std::string plain_text(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.rfind("[json.exception.", 0) == 0 && end != std::string::npos ? text.substr(end + 2) : text;
}

}  // namespace fabricgate
