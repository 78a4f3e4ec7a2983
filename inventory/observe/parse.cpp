#include "inventory/observe/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace fabricgate::readers {
namespace {

std::string after_colon(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon == std::string_view::npos ? "" : trim(line.substr(colon + 1));
}

std::string line_starting(std::string_view text, std::string_view start) {
  for (const std::string& line : lines_of(text))
    if (line.rfind(start, 0) == 0) return line;
  return "";
}

std::optional<std::uint64_t> limit_value(const std::string& text) {
  if (text == "unlimited") return UINT64_MAX;
  const auto value = to_integer(text);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

/// /proc/net/route prints addresses as the hexadecimal of the network-order word read by a little-endian CPU.
std::optional<std::uint32_t> route_word(const std::string& hex) {
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
  if (code != std::errc() || end != hex.data() + hex.size()) return std::nullopt;
  return (value >> 24) | ((value >> 8) & 0xff00) | ((value << 8) & 0xff0000) | (value << 24);
}

std::string dotted(std::uint32_t ip) {
  return std::to_string(ip >> 24) + "." + std::to_string(ip >> 16 & 255) + "." + std::to_string(ip >> 8 & 255) + "." +
         std::to_string(ip & 255);
}

std::string route_text(const std::vector<std::string>& fields) {
  const auto to = route_word(fields[1]), via = route_word(fields[2]), mask = route_word(fields[7]);
  const auto flags = to_integer("0x" + fields[3]);
  if (!to || !via || !mask || !flags || !(*flags & 1)) return "";
  int prefix = 0;
  for (std::uint32_t bits = *mask; bits; bits <<= 1) ++prefix;
  std::string out =
      *to == 0 && prefix == 0 ? "default" : dotted(*to) + (prefix == 32 ? "" : "/" + std::to_string(prefix));
  if (*flags & 2) out += " via " + dotted(*via);
  out += " dev " + fields[0];
  if (fields[6] != "0") out += " metric " + fields[6];
  return out;
}

/// \040 and its like, as the kernel escapes blanks in mount points.
std::string unescape_octal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_network_type(std::string_view type) {
  constexpr std::array<std::string_view, 13> types{"nfs",    "nfs4", "lustre", "ceph", "glusterfs", "fuse.glusterfs",
                                                   "beegfs", "gpfs", "cifs",   "smb3", "wekafs",    "fuse.ceph-fuse",
                                                   "pvfs2"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string server_of(const std::string& source, const std::string& options) {
  const std::size_t at = ("," + options).find(",addr=");
  if (at != std::string::npos) return options.substr(at + 5, options.find(',', at + 5) - at - 5);
  if (source.rfind("//", 0) == 0) return source.substr(2, source.find('/', 2) - 2);
  const std::string host = source.substr(0, source.find(":/"));
  return host.substr(0, host.find('@'));
}

}  // namespace

std::string trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  constexpr std::string_view blank = " \t\r\n";
  for (std::size_t begin = text.find_first_not_of(blank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blank, begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blank, end);
  }
  return out;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  const std::string clean = trim(text);
  const bool hex = clean.rfind("0x", 0) == 0;
  const char* begin = clean.data() + (hex ? 2 : 0);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(begin, clean.data() + clean.size(), value, hex ? 16 : 10);
  if (code != std::errc() || end != clean.data() + clean.size()) return std::nullopt;
  return value;
}

std::map<std::string, std::string> parse_os_release(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string& line : lines_of(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || line[0] == '#') continue;
    std::string value = trim(line.substr(equals + 1));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
      value = value.substr(1, value.size() - 2);
    out[trim(line.substr(0, equals))] = value;
  }
  return out;
}

std::int64_t parse_memory_total(std::string_view meminfo) {
  const auto words = words_of(line_starting(meminfo, "MemTotal:"));
  return words.size() < 2 ? 0 : to_integer(words[1]).value_or(0) * 1024;
}

std::optional<MemlockLimits> parse_memlock(std::string_view limits) {
  const auto words = words_of(line_starting(limits, "Max locked memory"));
  if (words.size() < 5) return std::nullopt;
  const auto soft = limit_value(words[3]), hard = limit_value(words[4]);
  if (!soft || !hard) return std::nullopt;
  return MemlockLimits{*soft, *hard};
}

int parse_cpu_count(std::string_view list) {
  int count = 0;
  std::string text = trim(list);
  std::replace(text.begin(), text.end(), ',', ' ');
  for (const std::string& range : words_of(text)) {
    const std::size_t dash = range.find('-');
    const auto first = to_integer(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : to_integer(range.substr(dash + 1));
    if (first && last && *last >= *first && *last < 1 << 20) count += static_cast<int>(*last - *first + 1);
  }
  return count;
}

std::string parse_cpu_model(std::string_view cpuinfo) {
  return after_colon(line_starting(cpuinfo, "model name"));
}

std::vector<std::string> parse_modules(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text))
    if (auto words = words_of(line); !words.empty()) out.push_back(words[0]);
  return out;
}

std::vector<std::string> parse_routes(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text)) {
    const auto fields = words_of(line);
    if (fields.size() < 8 || fields[0] == "Iface") continue;
    if (const std::string route = route_text(fields); !route.empty()) out.push_back(route);
  }
  return out;
}

std::vector<std::string> parse_network_mounts(std::string_view mountinfo) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(mountinfo)) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto left = words_of(line.substr(0, dash)), right = words_of(line.substr(dash + 3));
    if (left.size() < 5 || right.size() < 2 || !is_network_type(right[0])) continue;
    out.push_back(unescape_octal(left[4]) + " " +
                  server_of(unescape_octal(right[1]), right.size() > 2 ? right[2] : ""));
  }
  return out;
}

std::string parse_environment(std::string_view environ, std::string_view name) {
  const std::string start = std::string(name) + "=";
  while (!environ.empty()) {
    const std::string_view entry = environ.substr(0, environ.find('\0'));
    if (entry.substr(0, start.size()) == start) return std::string(entry.substr(start.size()));
    environ.remove_prefix(std::min(entry.size() + 1, environ.size()));
  }
  return "";
}

int parse_parent(std::string_view stat) {
  // the name in parentheses may hold anything, a closing parenthesis included
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  const auto words = words_of(stat.substr(name_end + 1));
  return words.size() < 2 ? 0 : static_cast<int>(to_integer(words[1]).value_or(0));
}

std::string parse_version_after(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return "";
  for (std::string word : words_of(text.substr(at + marker.size(), 200))) {
    if (word[0] == 'v') word.erase(0, 1);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos)
      return word.substr(0, word.find_first_of(",;()"));
  }
  return "";
}

bool is_pci_address(std::string_view text) {
  if (text.size() < 12 || text.size() > 16) return false;
  const std::size_t domain = text.size() - 8;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char expected = i == domain || i == domain + 3 ? ':' : i == domain + 6 ? '.' : 'x';
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (expected == 'x' ? !hex : text[i] != expected) return false;
  }
  return true;
}

double parse_link_speed(std::string_view text) {
  const std::string clean = trim(text);
  const double value = std::strtod(clean.c_str(), nullptr);
  return value > 0 && value < 1e6 ? value : 0;
}

}  // namespace fabricgate::readers
