#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suites/check.hpp"
#include "suites/limits.hpp"
#include "suites/suite.hpp"

namespace fabricgate::suites {
namespace {

using testing::HasSubstr;

std::string limits_error(const std::string& text) {
  const auto limits = parse_limits(text, "l.yaml", "default");
  return limits ? "accepted" : limits.error().what;
}

TEST(Limits, TheBuiltInFileHasEveryKnownMetricWithASource) {
  const auto limits = parse_limits(default_limits_text(), "default.yaml", "default");
  ASSERT_TRUE(limits) << limits.error().what;
  for (const auto& [metric, unit] : known_metrics()) {
    ASSERT_NE(limits->find(metric), nullptr) << metric;
    EXPECT_EQ(limits->find(metric)->unit, unit);
    EXPECT_GT(limits->find(metric)->source.size(), 10U) << metric;
  }
  EXPECT_EQ(limits->find("pair.nonsense"), nullptr);
}

TEST(Limits, APlatformSectionReplacesSingleMetrics) {
  const auto plain = parse_limits(default_limits_text(), "default.yaml", "default");
  const auto emulated = parse_limits(default_limits_text(), "default.yaml", "emulated");
  ASSERT_TRUE(plain);
  ASSERT_TRUE(emulated);
  EXPECT_GT(*emulated->find("pair.latency_tcp")->high, *plain->find("pair.latency_tcp")->high);
  EXPECT_EQ(emulated->find("clock.offset")->high, plain->find("clock.offset")->high);
  EXPECT_GE(*emulated->find("pair.bandwidth_share")->low, 0.8);  // a rail at half its rate must fail everywhere
  EXPECT_EQ(emulated->checksum, plain->checksum);
}

TEST(Limits, BadFilesAreErrorsWithPlaceAndReason) {
  const std::string good = "schema: 1\ndefault:\n  clock.offset: {high: 1, unit: s, source: x}\n";
  EXPECT_EQ(limits_error(good), "accepted");
  EXPECT_THAT(limits_error(""), HasSubstr("l.yaml: the file is empty"));
  EXPECT_THAT(limits_error("# nothing\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(limits_error("schema: 1\ndefault: {}\n"), HasSubstr("no limits"));
  EXPECT_THAT(limits_error("schema: 2\ndefault: {}\n"), HasSubstr("l.yaml:1:9"));
  EXPECT_THAT(limits_error("schema: 1\n"), HasSubstr("lacks 'default'"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.ofset: {high: 1, unit: s, source: x}\n"),
              HasSubstr("l.yaml:3:3: unknown key 'clock.ofset' in section default, did you mean 'clock.offset'?"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: 1, unit: ms, source: x}\n"),
              HasSubstr("l.yaml:3:33: limit clock.offset: unit is 'ms', the metric is in 's'"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {unit: s, source: x}\n"), HasSubstr("neither low nor high"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: .inf, unit: s, source: x}\n"), HasSubstr("finite number"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: nan, unit: s, source: x}\n"), HasSubstr("finite number"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: -1, unit: s, source: x}\n"),
              HasSubstr("l.yaml:3:24: limit clock.offset: high must be from 0 to 1e+06 s, found -1"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  pair.frame_train: {low: 1.0e+300, unit: count, source: x}\n"),
              HasSubstr("low must be from 0 to 1e+09 count, found 1e+300"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  pair.frame_loss: {high: 1e400, unit: \"1\", source: x}\n"),
              HasSubstr("finite number"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  pair.bandwidth_share: {low: 90, unit: \"1\", source: x}\n"),
              HasSubstr("low must be from 0 to 10 1, found 90"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {low: 2, high: 1, unit: s, source: x}\n"), HasSubstr("low is above high"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: 1, high: 2, unit: s, source: x}\n"), HasSubstr("appears twice"));
  EXPECT_THAT(limits_error("schema: 1\ndefault:\n  clock.offset: {high: 1, unit: s}\n"), HasSubstr("lacks 'source'"));
  EXPECT_THAT(limits_error("schema: [\n"), HasSubstr("l.yaml:2"));
  EXPECT_THAT(limits_error(good + "---\nx: 1\n"), HasSubstr("one YAML document"));
  EXPECT_THAT(limits_error("schema: 1\ndefault: 7\n"), HasSubstr("expected a mapping"));
}

TEST(Suite, TheBuiltInSuiteDemandsEveryCheckOfTheCatalogueAndAllowsOneSkip) {
  const auto suite = parse_suite(default_suite_text(), "default.yaml");
  ASSERT_TRUE(suite) << suite.error().what;
  EXPECT_EQ(suite->name, "default");
  for (const Check& check : catalogue()) {
    ASSERT_NE(suite->find(check.id), nullptr) << check.id;
    EXPECT_EQ(suite->find(check.id)->may_skip, std::string(check.id) == "link.cabling") << check.id;
    EXPECT_EQ(suite->find(check.id)->may_skip, check.may_skip) << check.id;
  }
}

TEST(Suite, ASuiteThatIsNotBuiltInIsAnErrorNamingThoseThatAre) {
  EXPECT_TRUE(check_built_in("default"));
  EXPECT_THAT(check_built_in("nightly").error().what, HasSubstr("unknown suite 'nightly'; built in: default;"));
}

TEST(Suite, BadSuitesAreErrorsWithPlaceAndReason) {
  const auto error = [](const std::string& text) {
    const auto suite = parse_suite(text, "s.yaml");
    return suite ? std::string("accepted") : suite.error().what;
  };
  const std::string head = "schema: 1\nname: x\nfull_coverage_nodes: 4\nminimum_partners: 2\n";
  EXPECT_EQ(error(head + "checks:\n  pair.rail: {may_skip: false}\n"), "accepted");
  EXPECT_THAT(error(head + "checks: {}\n"), HasSubstr("a suite without checks proves nothing"));
  EXPECT_THAT(error(head), HasSubstr("lacks 'checks'"));
  EXPECT_THAT(error(head + "checks:\n  pair.rial: {may_skip: false}\n"), HasSubstr("s.yaml:6:3: unknown key 'pair.rial' in checks, did you mean 'pair.rail'?"));
  EXPECT_THAT(error(head + "checks:\n  pair.rail: {may_skip: maybe}\n"), HasSubstr("expected true or false"));
  EXPECT_THAT(error("schema: 1\nname: x\nfull_coverage_nodes: 4\nminimum_partners: 0\nchecks: {}\n"), HasSubstr("at least 1"));
  EXPECT_THAT(error(""), HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace fabricgate::suites
