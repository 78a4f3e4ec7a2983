#pragma once
/// Reading JSON of others: values that must be of one kind, and what the library says is wrong, for a person: "key
/// 'limits_sha256' not found".
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace fabricgate {

/// Without the library's own number for it in brackets.
inline std::string plain_text(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.rfind("[json.exception.", 0) == 0 && end != std::string::npos ? text.substr(end + 2) : text;
}

/// Throws the library's type_error for what is no count: a conversion would make a large number of a negative one.
inline std::uint64_t count_from(const nlohmann::json& object, const char* key) {
  const nlohmann::json& count = object.at(key);
  const bool whole = count.is_number_unsigned() || (count.is_number_integer() && count.get<std::int64_t>() >= 0);
  if (!whole) throw nlohmann::json::type_error::create(302, std::string(key) + ": not a count", &object);
  return count.get<std::uint64_t>();
}

/// Empty where there is none.
inline std::string text_under(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace fabricgate
