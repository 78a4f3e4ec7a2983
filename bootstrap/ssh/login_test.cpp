#include "bootstrap/ssh/login.hpp"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>

#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/ssh/sshd_fixture.hpp"

namespace fabricgate::bootstrap {
namespace {

class Login : public SshdTest {
 protected:
  /// In a child: why `true` could not be run on the node by a user with this ~/.ssh/config, "" if it could.
  std::string problem_with(const std::string& config) {
    const std::string home = ::getpwuid(::geteuid())->pw_dir;
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", home.c_str(), "tmpfs", 0, "mode=0700") != 0)
      return "no home of its own";
    std::filesystem::create_directory(home + "/.ssh");
    if (!write_file_atomic(home + "/.ssh/config", config)) return "the configuration cannot be written";
    const auto outcomes = run_on_nodes(inventory, {Job{0, {"true"}, "", 20, 1000}}, Deadline::in_seconds(30));
    if (!outcomes) return outcomes.error().what;
    return (*outcomes)[0].result ? "" : (*outcomes)[0].result.error().what;
  }

  void expect_no_problem_with(const std::string& config) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string problem = problem_with(config);
      std::fprintf(stderr, "%s\n", problem.c_str());
      ::_exit(problem.empty() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
};

constexpr const char* harmful = "Host *\n  User nobody-here\n  Ciphers aes128-cbc\n  ProxyCommand false\n";

TEST_F(Login, TheUsersOwnSshConfigurationIsNotRead) {
  expect_no_problem_with(harmful);
}

TEST_F(Login, NorIsItOnTheWayThroughAJumpHost) {
  inventory.ssh.jump = "root@127.0.0.1:" + std::to_string(port);
  expect_no_problem_with(harmful);
}

}  // namespace
}  // namespace fabricgate::bootstrap
