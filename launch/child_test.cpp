#include "launch/child.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace fabricgate::launch {
namespace {

TEST(Child, LinesOfBothOutputsAndTheExitCodeArrive) {
  std::vector<std::string> out, err;
  ChildOptions options;
  options.on_out = [&](std::string_view line) { out.emplace_back(line); };
  options.on_err = [&](std::string_view line) { err.emplace_back(line); };
  const auto result =
      run_child({"sh", "-c", "echo a; echo b >&2; printf c; exit 3"}, Deadline::in_seconds(30), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(out, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(err, (std::vector<std::string>{"b"}));
}

TEST(Child, AProgramThatCannotBeStartedIsAnErrorThatNamesItAndTheReason) {
  for (const auto& [program, reason] : {std::pair{"/no/such/program", "No such file"}, {"no-such-program", "No such file"}, {"/dev/null", "Permission denied"}}) {
    const auto result = run_child({program}, Deadline::in_seconds(30), {});
    ASSERT_FALSE(result) << program;
    EXPECT_NE(result.error().what.find(std::string(program) + " could not be started: " + reason), std::string::npos) << result.error().what;
  }
}

/// True when nobody holds the other end of the pipe any more.
bool closes_within(int fd, int milliseconds) {
  pollfd end{fd, POLLIN, 0};
  char byte = 0;
  return ::poll(&end, 1, milliseconds) == 1 && ::read(fd, &byte, 1) == 0;
}

TEST(Child, AKilledParentTakesItsChildAlong) {
  int begun[2], held[2];
  ASSERT_EQ(::pipe(begun), 0);
  ASSERT_EQ(::pipe(held), 0);
  const pid_t head = ::fork();
  if (head == 0) {
    ::close(held[0]);
    ChildOptions options;
    options.on_out = [&](std::string_view) { (void)!::write(begun[1], "x", 1); };
    (void)run_child({"sh", "-c", "echo here; exec sleep 600"}, Deadline::in_seconds(600), options);
    ::_exit(0);
  }
  ::close(begun[1]);
  ::close(held[1]);
  char byte = 0;
  ASSERT_EQ(::read(begun[0], &byte, 1), 1);
  EXPECT_FALSE(closes_within(held[0], 0));
  ::kill(head, SIGKILL);
  ::waitpid(head, nullptr, 0);
  EXPECT_TRUE(closes_within(held[0], 20000)) << "the child outlives its parent";
  ::close(begun[0]);
  ::close(held[0]);
}

TEST(Child, ASignalThatKilledItIsToldFromAnExitCodeThatMeansOne) {
  const auto killed = run_child({"sh", "-c", "kill -9 $$"}, Deadline::in_seconds(30), {});
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->signal, 9);
  EXPECT_EQ(killed->exit_code, 128 + 9);
  EXPECT_FALSE(killed->stopped);
  const auto left = run_child({"sh", "-c", "exit 137"}, Deadline::in_seconds(30), {});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->signal, 0);
}

TEST(Child, DeadlineEndsAChildThatIgnoresThePoliteSignal) {
  ChildOptions options;
  options.grace_s = 0.2;
  const auto result = run_child({"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, Deadline::in_seconds(0.3), options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->exit_code, 128 + 9);
}

TEST(Child, StopEndsItAndIsNotCalledATimeout) {
  ChildOptions options;
  options.stop = [] { return true; };
  const auto result = run_child({"sleep", "60"}, Deadline::in_seconds(60), options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped);
  EXPECT_FALSE(result->timed_out);
}

TEST(Child, OutputWithoutEndNeitherDelaysTheDeadlineNorFillsMemory) {
  std::size_t longest = 0;
  ChildOptions options;
  options.grace_s = 0.2;
  options.on_out = [&](std::string_view line) { longest = std::max(longest, line.size()); };
  const auto result = run_child({"sh", "-c", "trap '' TERM; cat /dev/zero"}, Deadline::in_seconds(0.3), options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_GE(longest, 65536u);
  EXPECT_LE(longest, 65536u + 16384u);
}

TEST(Child, AddedEnvironmentIsSeen) {
  std::string seen;
  ChildOptions options;
  options.environment = {"FABRICGATE_CHILD_TEST=there"};
  options.on_out = [&](std::string_view line) { seen = line; };
  ASSERT_TRUE(run_child({"sh", "-c", "echo $FABRICGATE_CHILD_TEST"}, Deadline::in_seconds(30), options));
  EXPECT_EQ(seen, "there");
}

}  // namespace
}  // namespace fabricgate::launch
