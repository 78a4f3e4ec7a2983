#include "bootstrap/stage/look.hpp"

#include <gtest/gtest.h>

namespace fabricgate::bootstrap {
namespace {

TEST(Look, LineIsFoundBehindTheNoiseOfALogin) {
  const auto look = parse_look(
      "Welcome!\nno line end here\nab12 look 0011 yes 1700000000.250000000 n1.site b-1/uts:[7]\n-----BEGIN", "ab12");
  ASSERT_TRUE(look);
  EXPECT_EQ(look->rank_sha256, "0011");
  EXPECT_TRUE(look->linked);
  ASSERT_TRUE(look->clock_unix_s);
  EXPECT_DOUBLE_EQ(*look->clock_unix_s, 1700000000.25);
  EXPECT_EQ(look->hostname, "n1.site");
  EXPECT_EQ(look->machine, "b-1/uts:[7]");
}

TEST(Look, AWordThatIsMissingLeavesTheOthersInTheirPlaces) {
  const auto look = parse_look("\nab12 look none no   boot/uts\n", "ab12");
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->clock_unix_s);
  EXPECT_EQ(look->hostname, "");
  EXPECT_EQ(look->machine, "boot/uts");
}

TEST(Look, LineOfAnotherRequestOrACutLineIsNone) {
  EXPECT_FALSE(parse_look("\nab13 look none no 1.0\n", "ab12"));
  EXPECT_FALSE(parse_look("\nab12 look none no 170000", "ab12"));
  EXPECT_FALSE(parse_look("", "ab12"));
}

TEST(Look, DateThatKnowsNoFractionGivesNoClock) {
  const auto look = parse_look("\nab12 look none no 1700000000.%N\n", "ab12");
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->clock_unix_s);
  EXPECT_FALSE(look->linked);
}

TEST(Places, AgentIsNamedByItsChecksumAndTheSpareByTheNonce) {
  const Places places = places_of("/opt/x", std::string(64, 'a'), "00ff", "n1.site");
  EXPECT_EQ(places.agent, "/opt/x/agent/fabricgate-agent-aaaaaaaaaaaaaaaa");
  EXPECT_EQ(places.spare, "/var/tmp/fabricgate-00ff/fabricgate-agent-aaaaaaaaaaaaaaaa");
  EXPECT_EQ(places.agent_link, "/opt/x/bin/fabricgate-agent");
  EXPECT_EQ(places.host, "n1");
}

}  // namespace
}  // namespace fabricgate::bootstrap
