#include <charconv>

#include "inventory/inventory.hpp"

namespace fabricgate {
namespace {

Error not_an(std::string_view what, std::string_view text) {
  return {ErrorKind::parse, "'" + std::string(text.substr(0, 80)) + "' is not an " + std::string(what), 0};
}

/// Digits alone, no leading zero (inet_aton reads those as octal), at most `high`.
std::optional<std::uint32_t> number(std::string_view digits, std::uint32_t high) {
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > high) return std::nullopt;
  return value;
}

}  // namespace

Result<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t ip = 0;
  std::string_view rest = text;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? rest.find('.') : rest.size();
    if (dot == std::string_view::npos) return not_an("IPv4 address", text);
    const auto value = number(rest.substr(0, dot), 255);
    if (!value) return not_an("IPv4 address", text);
    ip = ip << 8 | *value;
    if (part < 3) rest.remove_prefix(dot + 1);
  }
  return ip;
}

Result<Cidr> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return not_an("IPv4 network like 10.0.0.0/24", text);
  const auto address = parse_ipv4(text.substr(0, slash));
  const auto prefix = number(text.substr(slash + 1), 32);
  if (!address || !prefix) return not_an("IPv4 network like 10.0.0.0/24", text);
  return Cidr{.address = *address, .prefix = static_cast<int>(*prefix)};
}

std::string format_ipv4(std::uint32_t ip) {
  return std::to_string(ip >> 24) + '.' + std::to_string(ip >> 16 & 255) + '.' + std::to_string(ip >> 8 & 255) + '.' +
         std::to_string(ip & 255);
}

std::string format_cidr(const Cidr& cidr) {
  return format_ipv4(cidr.address) + '/' + std::to_string(cidr.prefix);
}

}  // namespace fabricgate
