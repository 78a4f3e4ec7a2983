#include "bootstrap/command/quote.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace fabricgate::bootstrap {
namespace {

/// What a shell makes of the words: each argument behind printf, NUL between them.
std::string through_shell(const std::vector<std::string>& arguments, const std::string& shell = "sh") {
  std::vector<std::string> words{"printf", "%s\\0"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto line = quote_command(words);
  if (!line) return "error: " + line.error().what;
  int ends[2];
  if (::pipe(ends) != 0) return "error: pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::execl(("/bin/" + shell).c_str(), shell.c_str(), "-c", line->c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return out;
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string all;
  for (const auto& argument : arguments) all += argument + '\0';
  return all;
}

TEST(Quote, EveryShellOfThisMachineGivesBackWhatIsHardToQuote) {
  const std::vector<std::string> hard{"",      "plain",    "a b",   "it's",     "''",          "$(reboot)", "`id`",
                                      "\\",    "a\nb",     "\n",    "*",        "~root",       "A=b",       "-n",
                                      "\"x\"", "!history", ";&|<>", "\xff\xfe", "#no comment", "{a,b}"};
  EXPECT_EQ(through_shell(hard), joined(hard));
  int tried = 0;
  for (const char* shell : {"bash", "dash", "zsh", "ksh", "mksh"}) {
    if (::access((std::string("/bin/") + shell).c_str(), X_OK) != 0) continue;
    EXPECT_EQ(through_shell(hard, shell), joined(hard)) << shell;
    ++tried;
  }
  EXPECT_GE(tried, 1);
}

TEST(Quote, ShellGivesBackRandomBytes) {
  std::mt19937 random(20240613);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> arguments(1 + random() % 5);
    for (auto& argument : arguments)
      for (std::size_t n = random() % 40; n > 0; --n) argument += static_cast<char>(1 + random() % 255);
    ASSERT_EQ(through_shell(arguments), joined(arguments)) << "round " << round;
  }
}

TEST(Quote, NulIsRefusedWithItsPosition) {
  const auto quoted = quote_argument(std::string_view("ab\0c", 4));
  ASSERT_FALSE(quoted);
  EXPECT_EQ(quoted.error().kind, ErrorKind::parse);
  EXPECT_NE(quoted.error().what.find("byte 2"), std::string::npos);
}

TEST(Quote, EmptyCommandIsRefused) {
  EXPECT_FALSE(quote_command({}));
  EXPECT_FALSE(quote_command({""}));
}

TEST(Quote, PlainWordsStayReadable) {
  EXPECT_EQ(*quote_command({"/bin/ls", "-l", "/tmp"}), "/bin/ls -l /tmp");
}

}  // namespace
}  // namespace fabricgate::bootstrap
