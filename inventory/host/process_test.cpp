#include "inventory/host/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabricgate {
namespace {

/// Its mark with another pid and start time.
std::string mark_of(pid_t pid, const std::string& ticks) {
  const std::string own = process_mark();
  const std::string place = own.substr(0, own.find(' ', own.find(' ') + 1));
  return place + " " + std::to_string(pid) + " " + ticks;
}

TEST(ProcessMark, AProcessIsGoneOnceItHasEndedEvenWhenNobodyHasWaitedForIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string mark = mark_of(child, start_ticks(child));
  EXPECT_FALSE(is_gone(mark));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_gone(mark));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_gone(mark));
}

TEST(ProcessMark, APidThatWasGivenOutAgainIsAnotherProcess) {
  EXPECT_FALSE(is_gone(process_mark()));
  EXPECT_TRUE(is_gone(mark_of(::getpid(), "1")));
}

TEST(ProcessMark, OfAnotherMachineOrContainerNobodyKnows) {
  const std::string own = process_mark();
  EXPECT_FALSE(is_gone("another-boot" + own.substr(own.find(' '))));
  EXPECT_FALSE(is_gone(own_boot_id() + " pid:[1] 1 1"));
  EXPECT_FALSE(is_gone(""));
}

}  // namespace
}  // namespace fabricgate
