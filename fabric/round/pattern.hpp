#pragma once
/// What a message holds, so that wrong, misplaced and stale bytes show: 64-bit words that depend on a seed and on their
/// position; the first word also on the number of the message, because a buffer is sent many times.
#include <cstddef>
#include <cstdint>
#include <string>

namespace fabricgate::fabric {

/// Spreads any numbers over 64 bits (splitmix64 finaliser).
std::uint64_t mix(std::uint64_t value);

/// `bytes` is a multiple of 8.
void fill_pattern(std::byte* data, std::size_t bytes, std::uint64_t seed);
/// Makes a filled buffer message number `message`.
void number_message(std::byte* data, std::uint64_t seed, std::uint64_t message);
/// Bytes that no pattern holds for long, to tell "not written" from "written".
void poison(std::byte* data, std::size_t bytes);

/// Empty when right, else the first wrong byte: "byte 4096: expected 0x12, found 0xee (nothing was written there)".
/// `full` checks every byte, otherwise the first word and a handful spread over the message.
std::string check_pattern(const std::byte* data, std::size_t bytes, std::uint64_t seed, std::uint64_t message,
                          bool full);

}  // namespace fabricgate::fabric
