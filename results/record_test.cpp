#include "results/record.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

Record sample_record() {
  Record r;
  r.identity = {"run1", "abc", "0.1.0", "default"};
  r.check = "pair.rail";
  r.tier = Tier::pair;
  r.hosts = {"a", "b"};
  r.rail = "rail0";
  r.verdict = Verdict::fail;
  r.findings = {
      make_finding("bench.below_floor", {.host = "a", .rail = "rail0", .peer = "b", .direction = "tx"}, "≥ 1", "0.5")};
  r.sample = {{"bandwidth_bytes_per_s", 5e8}};
  r.started_unix_s = 1.5;
  r.elapsed_s = 0.25;
  return r;
}

TEST(Record, SurvivesTheRoundTripThroughOneLine) {
  const Record r = sample_record();
  const std::string line = to_line(r);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = record_from_line(line);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(to_line(*back), line);
  EXPECT_EQ(back->findings, r.findings);
  EXPECT_EQ(subject_key(*back), "pair.rail a,b rail0");
}

TEST(Record, ATruncatedLineIsAParseErrorAtEveryLength) {
  const std::string line = to_line(sample_record());
  for (std::size_t n = 0; n < line.size(); ++n) {
    const auto result = record_from_line(line.substr(0, n));
    ASSERT_FALSE(result) << n;
    EXPECT_EQ(result.error().kind, ErrorKind::parse);
  }
}

TEST(Record, AKeyTwiceInAnyObjectIsRefusedByName) {
  const std::string line = to_line(sample_record());
  const auto with = [&](const std::string& before, const std::string& added) {
    std::string text = line;
    return text.insert(text.find(before), added);
  };
  for (const auto& [text, key] :
       {std::pair{with("\"schema\"", "\"sample\":{\"error\":\"lost\"},"), "'sample'"},
        std::pair{with("\"bandwidth_bytes_per_s\"", "\"bandwidth_bytes_per_s\":1,"), "'bandwidth_bytes_per_s'"},
        std::pair{with("\"direction\"", "\"direction\":\"rx\","), "'direction'"},
        std::pair{with("\"bandwidth_bytes_per_s\"", "\"x\":[{\"\":1},{\"e\":1,\"\\u0065\":2}],"), "'e'"}}) {
    const auto result = record_from_line(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::parse);
    EXPECT_NE(result.error().what.find(key), std::string::npos) << result.error().what;
  }
  EXPECT_TRUE(record_from_line(with("\"bandwidth_bytes_per_s\"", "\"x\":[{\"e\":1},{\"e\":2,\"f\":{\"e\":3}}],")));
}

TEST(Record, WhatFollowsANulByteIsNotPassedOver) {
  for (const std::string& text : {std::string("0\0\"", 3), to_line(sample_record()) + std::string("\0", 1), to_line(sample_record()) + std::string("\0\"", 2)}) {
    const auto record = record_from_line(text);
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().what.find("NUL"), std::string::npos) << record.error().what;
  }
}

TEST(Record, NestingWithoutEndIsRefused) {
  std::string line = to_line(sample_record());
  const std::size_t depth = 200'000;
  line.insert(line.find("\"bandwidth_bytes_per_s\""), "\"x\":" + std::string(depth, '[') + std::string(depth, ']') + ",");
  const auto result = record_from_line(line);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().what.find("nested"), std::string::npos) << result.error().what;
}

TEST(Record, AnotherSchemaIsRefused) {
  std::string line = to_line(sample_record());
  line.replace(line.find("\"schema\":1"), 10, "\"schema\":9");
  EXPECT_FALSE(record_from_line(line));
}

TEST(Verdict, FailBeatsBlockedBeatsInconclusive) {
  EXPECT_EQ(worse(Verdict::blocked, Verdict::fail), Verdict::fail);
  EXPECT_EQ(worse(Verdict::blocked, Verdict::inconclusive), Verdict::blocked);
  EXPECT_EQ(worse(Verdict::not_run, Verdict::warn), Verdict::not_run);
  EXPECT_EQ(exit_code(Verdict::skip), ExitCode::inconclusive);
}

}  // namespace
}  // namespace fabricgate
