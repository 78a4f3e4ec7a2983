#include "bootstrap/agent/persisted.hpp"

#include "bootstrap/steps/persist.hpp"
#include "bootstrap/steps/sriov_testing.hpp"

namespace fabricgate::bootstrap {
namespace {

using ::testing::HasSubstr;
using testing::SriovMachine;

TEST(ApplyPersisted, ABootedNodeGetsItsVfsAgain) {
  SriovMachine host;
  const Desired wanted = testing::with_vfs(2);
  host.files[persisted_file] = to_text(Persisted{wanted, {"rail0"}, {}});
  const auto done = apply_persisted(host, persisted_file, 60);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(all_done(*done)) << to_text(*done);
  EXPECT_THAT(to_text(*done), HasSubstr("sriov: applied\n    echo 0 > "));
  EXPECT_EQ(host.count(), 2);
  EXPECT_EQ(host.mac(1), vf_identity(wanted.rails[0], 1).mac + "\n");
  EXPECT_EQ(to_text(*apply_persisted(host, persisted_file, 60)), "sriov: unchanged\n");
}

TEST(ApplyPersisted, WhatCannotBeDoneIsSaidAndNotDone) {
  SriovMachine host;
  host.refuse_count = ENOSPC;
  host.files[persisted_file] = to_text(Persisted{testing::with_vfs(2), {"rail0"}, {}});
  const auto done = apply_persisted(host, persisted_file, 60);
  ASSERT_TRUE(done);
  EXPECT_FALSE(all_done(*done));
  EXPECT_THAT(to_text(*done), HasSubstr("sriov: failed: rail rail0: write"));
}

TEST(ApplyPersisted, WithoutItsFileThereIsAnError) {
  SriovMachine host;
  EXPECT_FALSE(apply_persisted(host, persisted_file, 60));
  host.files[persisted_file] = "{}";
  const auto done = apply_persisted(host, persisted_file, 60);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr(persisted_file));
}

}  // namespace
}  // namespace fabricgate::bootstrap
