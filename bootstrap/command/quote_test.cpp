#include "bootstrap/command/quote.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace fabricgate::bootstrap {
namespace {

/// What /bin/sh makes of the words: each argument behind printf, NUL between them.
std::string through_shell(const std::vector<std::string>& arguments) {
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
    ::execl("/bin/sh", "sh", "-c", line->c_str(), static_cast<char*>(nullptr));
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

TEST(Quote, ShellGivesBackWhatIsHardToQuote) {
  const std::vector<std::string> hard{"",      "plain",    "a b",   "it's",     "''",          "$(reboot)", "`id`",
                                      "\\",    "a\nb",     "\n",    "*",        "~root",       "A=b",       "-n",
                                      "\"x\"", "!history", ";&|<>", "\xff\xfe", "#no comment", "{a,b}"};
  EXPECT_EQ(through_shell(hard), joined(hard));
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
