#include "launch/progress.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace fabricgate::launch {
namespace {

TEST(Progress, EventSurvivesItsLine) {
  const auto event = progress_from_line(to_line({.tier = "pair", .done = 3, .total = 10, .left_s = 12.5}));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tier, "pair");
  EXPECT_EQ(event->done, 3);
  EXPECT_EQ(event->total, 10);
  EXPECT_DOUBLE_EQ(event->left_s, 12.5);
}

TEST(Progress, TornOrForeignLinesAreNoEvents) {
  for (const char* line : {"", "pair 3 10 1", "@progress pair 3", "@progress pair 11 10 1", "@progress pair x 10 1"})
    EXPECT_FALSE(progress_from_line(line)) << line;
}

TEST(Progress, TextHasDoneTotalAndTimeLeft) {
  EXPECT_EQ(to_text({.tier = "pair", .done = 3, .total = 10, .left_s = 75}), "pair           3/10    30%  left 1 min 15 s");
  EXPECT_EQ(to_text({.tier = "link", .done = 4, .total = 4, .left_s = 9}), "link           4/4    100%");
}

TEST(Progress, PlainStyleWritesFirstAndLastOfATierOnly) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Progress progress(ProgressStyle::plain, ends[1]);
  for (int i = 0; i <= 50; ++i) progress.show({.tier = "pair", .done = i, .total = 50});
  close(ends[1]);
  char buffer[4096];
  const auto got = read(ends[0], buffer, sizeof buffer);
  close(ends[0]);
  const std::string text(buffer, static_cast<std::size_t>(got));
  EXPECT_EQ(text, "pair           0/50     0%\npair          50/50   100%\n");
}

}  // namespace
}  // namespace fabricgate::launch
