#include "launch/accept/dark_rails.hpp"

#include <gtest/gtest.h>

#include <map>

namespace fabricgate::launch {
namespace {

const std::vector<std::string> four{"a", "b", "c", "d"};

/// Answers to every question, both ways on two rails, where `dark` says which interfaces are.
std::vector<fabric::ReachAnswer> answers(const std::vector<std::string>& hosts,
                                         const std::vector<std::pair<std::string, std::string>>& dark) {
  std::vector<fabric::ReachAnswer> out;
  const auto is_dark = [&](const std::string& host, const std::string& rail) {
    return std::count(dark.begin(), dark.end(), std::pair(host, rail)) > 0;
  };
  for (const auto& [a, b] : dark_rail_questions(hosts))
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
      for (const std::string rail : {"rail0", "rail1"}) {
        fabric::ReachAnswer answer{.from = from, .from_rail = rail, .to = to, .to_rail = rail};
        if (!is_dark(from, rail) && !is_dark(to, rail)) answer.macs = {"02:00:00:00:00:01"};
        out.push_back(answer);
      }
  return out;
}

std::string named(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += finding.cause + " " + finding.subject.host + " " + finding.subject.rail + finding.subject.direction + "\n";
  return text;
}

TEST(DarkRails, TheInterfaceThatAnswersNobodyIsNamed) {
  EXPECT_EQ(named(dark_rails(four, answers(four, {{"c", "rail1"}}))), "pair.unreachable c rail1\n");
  EXPECT_EQ(named(dark_rails(four, answers(four, {{"a", "rail0"}, {"d", "rail1"}}))),
            "pair.unreachable a rail0\npair.unreachable d rail1\n");
  EXPECT_EQ(named(dark_rails({"a", "b", "c"}, answers({"a", "b", "c"}, {{"b", "rail0"}}))),
            "pair.unreachable b rail0\n");
}

TEST(DarkRails, NobodyIsNamedWhereAllAnswerOrNothingTellsTheEndsApart) {
  EXPECT_EQ(named(dark_rails(four, answers(four, {}))), "");
  EXPECT_EQ(named(dark_rails({"a", "b"}, answers({"a", "b"}, {{"a", "rail0"}}))), "");
  EXPECT_EQ(named(dark_rails(four, {})), "");
}

TEST(DarkRails, EveryPairOfFewIsAskedOnceAndOfManyEightForEachHost) {
  EXPECT_EQ(dark_rail_questions({"a", "b"}).size(), 1u);
  EXPECT_EQ(dark_rail_questions(four).size(), 6u);
  std::vector<std::string> many;
  std::map<std::string, int> asked;
  for (int i = 100; i < 200; ++i) many.push_back("n" + std::to_string(i));
  for (const auto& [a, b] : dark_rail_questions(many)) ++asked[a], ++asked[b];
  for (const std::string& host : many) EXPECT_EQ(asked[host], 8) << host;
}

}  // namespace
}  // namespace fabricgate::launch
