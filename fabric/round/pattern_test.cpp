#include "fabric/round/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> message(std::uint64_t seed, std::uint64_t number, std::size_t bytes = 4096) {
  std::vector<std::byte> data(bytes);
  fill_pattern(data.data(), bytes, seed);
  number_message(data.data(), seed, number);
  return data;
}

TEST(Pattern, ARightMessageIsFoundRight) {
  const auto data = message(7, 3);
  EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 3, true), IsEmpty());
  EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 3, false), IsEmpty());
}

TEST(Pattern, EveryFlippedByteIsFoundAndLocated) {
  for (std::size_t at = 0; at < 512; ++at) {
    auto data = message(7, 3, 512);
    data[at] ^= std::byte{1};
    EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 3, true), HasSubstr("byte " + std::to_string(at) + ":"));
  }
}

TEST(Pattern, AnotherMessageAnotherSeedAndShiftedBytesAreWrong) {
  const auto data = message(7, 3);
  EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 4, false), HasSubstr("byte 0:"));
  EXPECT_THAT(check_pattern(data.data(), data.size(), 8, 3, false), HasSubstr("expected"));
  auto shifted = data;
  std::copy(data.begin() + 8, data.end() - 8, shifted.begin() + 16);
  EXPECT_THAT(check_pattern(shifted.data(), shifted.size(), 7, 3, true), HasSubstr("byte 16:"));
}

TEST(Pattern, BytesThatNobodyWroteAreSaidToBeThat) {
  auto data = message(7, 3);
  poison(data.data() + 2048, 2048);
  EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 3, true), HasSubstr("byte 2048: expected"));
  EXPECT_THAT(check_pattern(data.data(), data.size(), 7, 3, true), HasSubstr("nothing was written there"));
}

}  // namespace
}  // namespace fabricgate::fabric
