#include "inventory/observe/rdma_text.hpp"

#include <charconv>
#include <cstdlib>

#include "inventory/observe/parse.hpp"

namespace fabricgate {

std::optional<RdmaRate> parse_rdma_rate(std::string_view text) {
  const auto words = readers::words_of(text);
  if (words.size() < 3 || words.size() > 4 || words[1] != "Gb/sec") return std::nullopt;
  char* end = nullptr;
  RdmaRate rate{.bits_per_s = std::strtod(words[0].c_str(), &end) * 1e9};
  if (*end != '\0' || !(rate.bits_per_s > 0 && rate.bits_per_s < 1e14)) return std::nullopt;
  const std::string& width = words[2];  // "(4X" or "(4X)"
  const std::size_t x = width.find('X');
  if (width[0] != '(' || x == std::string::npos) return std::nullopt;
  const auto lanes = readers::to_integer(width.substr(1, x - 1));
  if (!lanes || *lanes < 1 || *lanes > 12) return std::nullopt;
  rate.width = static_cast<int>(*lanes);
  if (words.size() == 4) rate.speed = words[3].substr(0, words[3].find(')'));
  return rate;
}

bool is_zero_guid(std::string_view text) {
  return text.find('0') != std::string_view::npos && text.find_first_not_of("0:") == std::string_view::npos;
}

std::optional<std::uint32_t> gid_ipv4(std::string_view gid) {
  constexpr std::string_view mapped = "0000:0000:0000:0000:0000:ffff:";
  if (gid.size() != mapped.size() + 9 || gid.substr(0, mapped.size()) != mapped) return std::nullopt;
  std::uint32_t high = 0, low = 0;
  const char* text = gid.data() + mapped.size();
  const auto first = std::from_chars(text, text + 4, high, 16), second = std::from_chars(text + 5, text + 9, low, 16);
  if (first.ptr != text + 4 || second.ptr != text + 9) return std::nullopt;
  return high << 16 | low;
}

bool gid_link_local(std::string_view gid) {
  return gid.rfind("fe80:", 0) == 0;
}

int roce_mtu(int netdev_mtu) {
  constexpr int headers = 40 + 8 + 12 + 4 + 28 + 4;
  for (const int mtu : {4096, 2048, 1024, 512, 256})
    if (netdev_mtu - headers >= mtu) return mtu;
  return 0;
}

}  // namespace fabricgate
