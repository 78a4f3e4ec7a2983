#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "launch/commands/command.hpp"

namespace fabricgate::launch {
namespace {

/// Exit code of a program with one command that throws; what it says of it goes to standard error.
int end_of(std::vector<std::string> words) {
  static constexpr std::array<Command, 1> commands{
      {{"work", "", "nothing", "", [](const std::vector<std::string>&) -> int { throw std::logic_error("broken"); }}}};
  std::vector<char*> argv;
  words.insert(words.begin(), "program");
  for (std::string& word : words) argv.push_back(word.data());
  return run_program("program", commands, static_cast<int>(argv.size()), argv.data());
}

TEST(Program, ABugEndsWith70AndAWrongCommandLineWith64) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(end_of({"work"}), 70);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: internal error: broken\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"wrok"}, {"--log", "loud", "work"}})
    EXPECT_EQ(end_of(words), 64);
  EXPECT_EQ(end_of({"--help"}), 0);
}

TEST(Program, HelpOfACommandIsWhatTheCommandSaysOfItself) {
  const auto said_by_accept = [](std::vector<std::string> words, int expected) {
    static constexpr std::array<Command, 1> commands{{{"accept", "", "", "", run_rank_accept}}};
    std::vector<char*> argv;
    words.insert(words.begin(), "fabricgate-rank");
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_program("fabricgate-rank", commands, static_cast<int>(argv.size()), argv.data()), expected);
    return testing::internal::GetCapturedStdout();
  };
  const std::string own = said_by_accept({"accept", "--help"}, 0);
  EXPECT_NE(own.find("fabricgate-rank accept [OPTIONS]"), std::string::npos) << own;
  EXPECT_EQ(said_by_accept({"help", "accept"}, 0), own);
  EXPECT_EQ(said_by_accept({"--help", "accept"}, 0), own);
  EXPECT_EQ(said_by_accept({"help", "acept"}, 64), "");
  EXPECT_EQ(said_by_accept({"help", "--help"}, 0), said_by_accept({"help"}, 0));
}

}  // namespace
}  // namespace fabricgate::launch
