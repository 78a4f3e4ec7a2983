#include "results/host_range.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace fabricgate {
namespace {

constexpr std::size_t max_hosts = 65536;

Error at(std::string_view text, std::size_t position, const std::string& what) {
  return {ErrorKind::parse, "host range '" + std::string(text) + "': " + what + " at character " + std::to_string(position + 1), 0};
}

bool all_digits(std::string_view s) {
  return !s.empty() && s.size() <= 9 && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// "001-064,070" → numbers with the width they were written in.
std::optional<std::string> expand_bracket(std::string_view body, std::vector<std::string>& out) {
  std::size_t begin = 0;
  while (begin <= body.size()) {
    const std::size_t end = std::min(body.find(',', begin), body.size());
    const std::string_view item = body.substr(begin, end - begin);
    const std::size_t dash = item.find('-');
    const std::string_view low = item.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : item.substr(dash + 1);
    if (!all_digits(low) || !all_digits(high)) return "expected a number or a range of numbers, found '" + std::string(item) + "'";
    const std::uint64_t first = std::stoull(std::string(low)), last = std::stoull(std::string(high));
    if (last < first) return "range '" + std::string(item) + "' goes down";
    if (last - first >= max_hosts) return "range '" + std::string(item) + "' has more than 65536 names";
    for (std::uint64_t n = first; n <= last; ++n) out.push_back(padded(n, low.size()));
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view text) {
  std::vector<std::string> all, group{""};
  const auto finish = [&]() { all.insert(all.end(), group.begin(), group.end()); group = {""}; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',') {
      if (group.front().empty()) return at(text, i, "empty name");
      finish();
    } else if (c == '[') {
      const std::size_t close = text.find(']', i);
      if (close == std::string_view::npos) return at(text, i, "'[' without ']'");
      std::vector<std::string> numbers;
      if (const auto error = expand_bracket(text.substr(i + 1, close - i - 1), numbers)) return at(text, i + 1, *error);
      if (all.size() + group.size() * numbers.size() > max_hosts) return at(text, i, "more than 65536 names");
      std::vector<std::string> product;
      for (const std::string& head : group)
        for (const std::string& number : numbers) product.push_back(head + number);
      group = std::move(product);
      i = close;
    } else if (c == ']' || std::isspace(static_cast<unsigned char>(c))) {
      return at(text, i, std::string("unexpected '") + c + "'");
    } else {
      for (std::string& name : group) name += c;
    }
  }
  if (group.front().empty()) return at(text, text.size(), "empty name");
  finish();
  return all;
}

std::string fold_hosts(std::vector<std::string> hosts) {
  // key: text before and after the last number, and its width; value: the numbers
  std::map<std::tuple<std::string, std::string, std::size_t>, std::vector<std::uint64_t>> groups;
  std::vector<std::string> out;
  for (const std::string& host : hosts) {
    const std::size_t last = host.find_last_of("0123456789");
    if (last == std::string::npos) { out.push_back(host); continue; }
    std::size_t first = last;
    while (first > 0 && std::isdigit(static_cast<unsigned char>(host[first - 1]))) --first;
    const std::string digits = host.substr(first, last - first + 1);
    if (digits.size() > 18) { out.push_back(host); continue; }
    const std::size_t width = digits.size() > 1 && digits[0] == '0' ? digits.size() : 0;
    groups[{host.substr(0, first), host.substr(last + 1), width}].push_back(std::stoull(digits));
  }
  // "09" and "10" share a group when 10 needs no padding at that width
  for (auto& [key, numbers] : groups) {
    const auto& [head, tail, width] = key;
    if (width == 0) continue;
    const auto plain = groups.find({head, tail, 0});
    if (plain == groups.end()) continue;
    auto& others = plain->second;
    for (auto n = others.begin(); n != others.end();) {
      if (std::to_string(*n).size() == width) { numbers.push_back(*n); n = others.erase(n); } else ++n;
    }
  }
  for (auto& [key, numbers] : groups) {
    if (numbers.empty()) continue;
    const auto& [head, tail, width] = key;
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::string body;
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t j = i;
      while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
      body += (body.empty() ? "" : ",") + padded(numbers[i], width);
      if (j > i) body += "-" + padded(numbers[j], width);
      i = j + 1;
    }
    out.push_back(numbers.size() == 1 ? head + body + tail : head + "[" + body + "]" + tail);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::string joined;
  for (const std::string& item : out) joined += (joined.empty() ? "" : ",") + item;
  return joined;
}

}  // namespace fabricgate
