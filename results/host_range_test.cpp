#include "results/host_range.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

void round_trip(const std::string& text, std::size_t count, const std::string& folded) {
  const auto hosts = expand_hosts(text);
  ASSERT_TRUE(hosts) << text << ": " << hosts.error().what;
  EXPECT_EQ(hosts->size(), count) << text;
  EXPECT_EQ(fold_hosts(*hosts), folded) << text;
}

TEST(HostRange, ExpandsAndFolds) {
  round_trip("n1", 1, "n1");
  round_trip("gpu[001-064,070]", 65, "gpu[001-064,070]");
  round_trip("gpu[08-11]", 4, "gpu[08-11]");
  round_trip("gpu[8-11]", 4, "gpu[8-11]");
  round_trip("rack[1-2]n[01-03],login1", 7, "login1,rack1n[01-03],rack2n[01-03]");
  round_trip("a,b,a", 3, "a,b");
  round_trip("node-3.example", 1, "node-3.example");
}

TEST(HostRange, SaysWhereARangeIsWrong) {
  for (const char* bad : {"", "a,", "a[1-", "a[3-1]", "a[]", "a[x]", "a]", "a b", "a[1-99999999]", "[0-999][0-999]"}) {
    const auto result = expand_hosts(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().what.find("character"), std::string::npos) << result.error().what;
  }
}

}  // namespace
}  // namespace fabricgate
