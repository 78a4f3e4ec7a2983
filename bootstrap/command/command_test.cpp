#include "bootstrap/command/command.hpp"

#include <gtest/gtest.h>

namespace fabricgate::bootstrap {
namespace {

TEST(Sudo, StandsBeforeTheCommandOfAnyOtherUser) {
  EXPECT_EQ(*command_line({.argv = {"ls", "a b"}}, "ops"), "env 'LC_ALL=C' sudo -n -- ls 'a b'");
  EXPECT_EQ(*command_line({.argv = {"ls"}}, "root"), "ls");
  EXPECT_EQ(*command_line({.argv = {"ls"}, .as_root = false}, "ops"), "ls");
}

TEST(Sudo, RefusalsAreTold) {
  EXPECT_EQ(refusal_of_sudo({1, "", "sudo: a password is required\n"}), "sudo wants a password");
  EXPECT_EQ(refusal_of_sudo({1, "", "sudo: sorry, you must have a tty to run sudo\n"}), "sudo wants a terminal");
  EXPECT_EQ(refusal_of_sudo({1, "", "ops is not in the sudoers file.\n"}), "sudo does not allow this user");
  EXPECT_EQ(refusal_of_sudo({127, "", "env: 'sudo': No such file or directory\n"}), "sudo is not installed");
  EXPECT_EQ(refusal_of_sudo({1, "", "grep: x: No such file or directory\n"}), "");
  EXPECT_EQ(refusal_of_sudo({0, "", "sudo: a password is required\n"}), "");
}

}  // namespace
}  // namespace fabricgate::bootstrap
