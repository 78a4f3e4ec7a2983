#include "inventory/host/real_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace fabricgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RealHostTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "host-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder;
  RealHost here;
  Deadline soon = Deadline::in_seconds(20);
};

TEST_F(RealHostTest, PathsAreLookedUpBelowTheRoot) {
  RealHost captured(folder + "/");
  ASSERT_TRUE(captured.write("/etc/sysctl.d/b.conf", "x = 1\n", 0600));
  ASSERT_TRUE(captured.write("/etc/sysctl.d/a.conf", "", 0644));
  EXPECT_EQ(*captured.read("/etc/sysctl.d/b.conf"), "x = 1\n");
  EXPECT_THAT(*captured.list("/etc/sysctl.d"), ElementsAre("a.conf", "b.conf"));
  struct stat found {};
  ASSERT_EQ(::stat((folder + "/etc/sysctl.d/b.conf").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_TRUE(captured.remove("/etc/sysctl.d/b.conf"));
  EXPECT_FALSE(captured.exists("/etc/sysctl.d/b.conf"));
  EXPECT_TRUE(captured.remove("/etc/sysctl.d/b.conf")) << "removing twice is fine";
}

TEST_F(RealHostTest, ACapturedTreeRunsNoCommands) {
  RealHost captured(folder);
  EXPECT_EQ(captured.run({"true"}, soon).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(captured.addresses().error().kind, ErrorKind::unavailable);
  EXPECT_EQ(captured.set_memlock(::getpid(), 0).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(captured.kernel_log(0).error().kind, ErrorKind::unavailable);
}

TEST_F(RealHostTest, AMissingFileIsUnavailableAndNamed) {
  auto missing = here.read(folder + "/none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(missing.error().what, HasSubstr(folder + "/none"));
  EXPECT_FALSE(here.write_in_place(folder + "/none", "1"));
}

TEST_F(RealHostTest, AWriteThatTheKernelRefusesHasItsErrno) {
  const Status refused = here.write_in_place("/proc/self/oom_score_adj", "99999\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().native, EINVAL);
}

TEST_F(RealHostTest, ACommandGivesBothStreamsAndItsExitCode) {
  auto result = here.run({"sh", "-c", "echo out; echo err >&2; exit 3"}, soon);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST_F(RealHostTest, ACommandKilledByASignalSaysSo) {
  auto result = here.run({"sh", "-c", "kill -TERM $$"}, soon);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 128 + SIGTERM);
}

TEST_F(RealHostTest, InputReachesTheCommandWhole) {
  const std::string input(300000, 'x');
  auto result = here.run({"wc", "-c"}, soon, input);
  ASSERT_TRUE(result);
  EXPECT_EQ(std::atoi(result->out.c_str()), 300000);
}

TEST_F(RealHostTest, OutputBeyondTheLimitIsDroppedAndTheCommandStillEnds) {
  auto result = here.run({"head", "-c", "9000000", "/dev/zero"}, soon);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_EQ(result->out.size(), command_output_limit);
}

TEST_F(RealHostTest, TheDeadlineKillsTheWholeProcessGroup) {
  const std::string file = folder + "/pid";
  auto result = here.run({"sh", "-c", "sleep 300 & echo $! > " + file + "; wait"}, Deadline::in_seconds(1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::timeout);
  const int pid = std::atoi(here.read(file)->c_str());
  ASSERT_GT(pid, 1);
  auto gone = [&] {
    auto stat = here.read("/proc/" + std::to_string(pid) + "/stat");
    return !stat || stat->find(") Z") != std::string::npos;
  };
  while (!gone()) ::usleep(10000);
}

TEST_F(RealHostTest, ABackgroundProcessThatKeepsThePipesOpenIsNotWaitedFor) {
  auto result = here.run({"sh", "-c", "sleep 30 & echo $!"}, Deadline::in_seconds(25));
  ASSERT_TRUE(result) << result.error().what;
  ::kill(std::atoi(result->out.c_str()), SIGKILL);
}

TEST_F(RealHostTest, AMissingProgramIsUnavailable) {
  EXPECT_EQ(here.run({"no-such-program-here"}, soon).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(here.run({"/no/such/program"}, soon).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(here.run({}, soon).error().kind, ErrorKind::bug);
}

TEST_F(RealHostTest, LoopbackIsAmongTheAddresses) {
  auto addresses = here.addresses();
  ASSERT_TRUE(addresses) << addresses.error().what;
  EXPECT_THAT(*addresses, testing::Contains(InterfaceAddress{"lo", "127.0.0.1", 8}));
}

TEST_F(RealHostTest, FreeSpaceOfAPathThatDoesNotExistYetIsThatOfItsParent) {
  auto space = here.free_bytes(folder + "/not/yet");
  ASSERT_TRUE(space) << space.error().what;
  EXPECT_GE(*space, 0);
}

}  // namespace
}  // namespace fabricgate
