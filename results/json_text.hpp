#pragma once
/// Reading JSON of others: values that must be of one kind, and what the library says is wrong, for a person: "key
/// 'limits_sha256' not found".
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace fabricgate {

/// Without the library's own number for it in brackets.
inline std::string plain_text(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.rfind("[json.exception.", 0) == 0 && end != std::string::npos ? text.substr(end + 2) : text;
}

/// Throws the library's type_error for what is no whole number that Whole holds. A conversion would cut 1.5, wrap -1, and
/// not be defined for 1e18.
template <class Whole>
Whole whole_from(const nlohmann::json& object, const char* key) {
  const nlohmann::json& number = object.at(key);
  const bool fits = number.is_number_unsigned() ? std::in_range<Whole>(number.get<std::uint64_t>())
                                                : number.is_number_integer() && std::in_range<Whole>(number.get<std::int64_t>());
  if (!fits) throw nlohmann::json::type_error::create(302, std::string(key) + ": " + number.dump() + " is no whole number here", &object);
  return number.is_number_unsigned() ? static_cast<Whole>(number.get<std::uint64_t>()) : static_cast<Whole>(number.get<std::int64_t>());
}
inline std::uint64_t count_from(const nlohmann::json& object, const char* key) { return whole_from<std::uint64_t>(object, key); }

/// Empty where there is none.
inline std::string text_under(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace fabricgate
