#include "launch/interrupt.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace fabricgate::launch {
namespace {

/// How a process ends that gets the two signals; it exits with 0 if it gets past both.
int end_after(int first, int second) {
  const pid_t child = ::fork();
  if (child == 0) {
    catch_interrupts();
    if (interrupted()) ::_exit(2);
    ::raise(first);
    if (!interrupted() || interrupt_signal() != first) ::_exit(3);
    ::raise(second);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(Interrupt, TheFirstSignalIsAFlagAndTheSecondEndsTheProgram) {
  EXPECT_EQ(end_after(SIGINT, SIGINT), -SIGINT);
  EXPECT_EQ(end_after(SIGINT, SIGTERM), -SIGTERM);
  EXPECT_EQ(end_after(SIGTERM, SIGINT), -SIGINT);
  EXPECT_EQ(end_after(SIGQUIT, SIGTERM), -SIGTERM);
  EXPECT_EQ(end_after(SIGHUP, SIGTERM), -SIGTERM);
}

TEST(Interrupt, ACommandThatOnlyReadsIsEndedByTheFirst) {
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) {
    const pid_t child = ::fork();
    if (child == 0) {
      catch_interrupts();
      end_at_interrupts();
      ::raise(number);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number;
  }
}

TEST(Interrupt, AHangUpThatWasIgnoredAtTheStartStaysIgnored) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);  // as nohup does
    catch_interrupts();
    ::raise(SIGHUP);
    end_at_interrupts();
    ::raise(SIGHUP);
    ::_exit(interrupted() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Interrupt, AReaderThatWentAwayEndsNothing) {
  EXPECT_EQ(end_after(SIGTERM, SIGPIPE), 0);
}

}  // namespace
}  // namespace fabricgate::launch
