#include "launch/commands/stage_flags.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

Result<StageFlags> flags_of(const std::vector<std::string>& arguments, const std::vector<std::string>& of_head = {}) {
  CLI::App app;
  StageFlags flags;
  add_node_timeout(app, flags);
  add_reboot(app, flags);
  if (parse_options(app, arguments)) return Error{ErrorKind::parse, "not parsed", 0};
  if (auto settled = settle(flags); !settled) return settled.error();
  if (auto head = need_head(app, of_head); !head) return head.error();
  return flags;
}

TEST(StageFlags, NobodyIsRebootedUnlessToldAndWavesAreATenthOfThoseThatWait) {
  const auto none = flags_of({});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->reboot.allowed);
  EXPECT_EQ(none->reboot.wave.of(40), 4u);
}

TEST(StageFlags, WhatIsTypedIsTaken) {
  const auto flags = flags_of({"--allow-reboot", "--wave", "3", "--reboot-timeout", "60", "--node-timeout", "3600"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE(flags->reboot.allowed);
  EXPECT_EQ(flags->reboot.wave.of(40), 3u);
  EXPECT_EQ(flags->reboot.timeout_s, 60);
  EXPECT_EQ(flags->node_timeout_s, 3600);
}

TEST(StageFlags, AWaveThatIsNoneAndAnOptionThatRanksCannotFollowAreNamed) {
  const auto wave = flags_of({"--wave", "0"});
  ASSERT_FALSE(wave);
  EXPECT_NE(wave.error().what.find("wave '0'"), std::string::npos);
  const auto inside = flags_of({"--wave", "2"}, {"--allow-reboot", "--wave"});
  ASSERT_FALSE(inside);
  EXPECT_NE(inside.error().what.find("--wave has no meaning inside ranks"), std::string::npos);
  EXPECT_TRUE(flags_of({"--node-timeout", "60"}, {"--allow-reboot", "--wave"}));
}

}  // namespace
}  // namespace fabricgate::launch
