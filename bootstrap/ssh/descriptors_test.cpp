#include "bootstrap/ssh/descriptors.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "bootstrap/ssh/pool.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

/// With the soft limit low; it comes back.
class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_max < descriptors_for(3)) GTEST_SKIP() << "the hard limit is " << before.rlim_max;
    const rlimit low{.rlim_cur = 40, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  void TearDown() override { ::setrlimit(RLIMIT_NOFILE, &before); }
  static rlim_t soft() {
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur;
  }

  rlimit before{};
};

TEST_F(Descriptors, ALowLimitIsRaisedToWhatTheNodesNeedAndAHighOneStays) {
  ASSERT_TRUE(allow_descriptors(3));
  EXPECT_EQ(soft(), 256U + 8 * 3);
  ASSERT_TRUE(allow_descriptors(1));
  EXPECT_EQ(soft(), 256U + 8 * 3);
}

TEST_F(Descriptors, AHardLimitThatIsTooLowIsNamedWithTheNeedAndTheRemedy) {
  const auto nodes = static_cast<std::size_t>(before.rlim_max / 8);
  const auto allowed = allow_descriptors(nodes);
  ASSERT_FALSE(allowed);
  for (const std::string& part : {std::to_string(before.rlim_max) + " (RLIMIT_NOFILE, hard)", std::to_string(descriptors_for(nodes)) + " are needed",
                                  std::string("limits.conf")})
    EXPECT_THAT(allowed.error().what, HasSubstr(part));
  EXPECT_EQ(soft(), 40U);
}

TEST_F(Descriptors, ThePoolRaisesTheLimitForItsWindow) {
  Inventory inventory;
  inventory.ssh.window = 2;
  inventory.nodes.resize(3);
  (void)converse(inventory, {{0, {}}, {1, {}}, {2, {}}}, Deadline::in_seconds(0), {.stop = [] { return true; }});
  EXPECT_EQ(soft(), 256U + 8 * 2);
}

}  // namespace
}  // namespace fabricgate::bootstrap
