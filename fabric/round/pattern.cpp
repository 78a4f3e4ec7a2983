#include "fabric/round/pattern.hpp"

#include <fmt/format.h>

#include <cstring>

namespace fabricgate::fabric {
namespace {

constexpr int poison_byte = 0xee;
constexpr std::size_t spread = 8;  // words looked at by a quick check

/// Cheap enough that filling and checking run near memory speed.
std::uint64_t word_at(std::uint64_t base, std::size_t index) {
  const std::uint64_t word = base + index * 0x9E3779B97F4A7C15u;
  return word ^ (word >> 29);
}

std::uint64_t load(const std::byte* data, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, data + index * 8, 8);
  return word;
}

std::string describe(const std::byte* data, std::size_t index, std::uint64_t expected) {
  std::byte wanted[8];
  std::memcpy(wanted, &expected, 8);
  const std::byte* found = data + index * 8;
  std::size_t at = 0;
  while (at < 7 && wanted[at] == found[at]) ++at;
  const bool untouched = load(data, index) == 0xeeeeeeeeeeeeeeeeu;
  return fmt::format("byte {}: expected {:#04x}, found {:#04x}{}", index * 8 + at, std::to_integer<int>(wanted[at]),
                     std::to_integer<int>(found[at]), untouched ? " (nothing was written there)" : "");
}

}  // namespace

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

void fill_pattern(std::byte* data, std::size_t bytes, std::uint64_t seed) {
  const std::uint64_t base = mix(seed);
  for (std::size_t index = 0; index < bytes / 8; ++index) {
    const std::uint64_t word = word_at(base, index);
    std::memcpy(data + index * 8, &word, 8);
  }
}

void number_message(std::byte* data, std::uint64_t seed, std::uint64_t message) {
  const std::uint64_t word = word_at(mix(seed), 0) ^ mix(message + 1);
  std::memcpy(data, &word, 8);
}

void poison(std::byte* data, std::size_t bytes) {
  std::memset(data, poison_byte, bytes);
}

std::string check_pattern(const std::byte* data, std::size_t bytes, std::uint64_t seed, std::uint64_t message,
                          bool full) {
  const std::uint64_t base = mix(seed);
  const std::uint64_t first = word_at(base, 0) ^ mix(message + 1);
  if (load(data, 0) != first) return describe(data, 0, first);
  const std::size_t words = bytes / 8;
  const std::size_t step = full || words < spread ? 1 : words / spread;
  for (std::size_t index = step; index < words; index += step) {
    const std::uint64_t expected = word_at(base, index);
    if (load(data, index) != expected) return describe(data, index, expected);
  }
  return {};
}

}  // namespace fabricgate::fabric
