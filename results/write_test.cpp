#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "results/file.hpp"
#include "results/gate_result.hpp"

namespace fabricgate {
namespace {

using testing::HasSubstr;
using testing::Not;

GateResult some_result() {
  GateResult result;
  result.verdict = Verdict::fail;
  result.exit_code = ExitCode::not_ready;
  result.text = "NOT READY";
  result.reason = "link.down gpu004 rail1";
  result.coverage = "6 of 6 pairs on 2 rails";
  for (int i = 1; i <= 4; ++i)
    result.nodes.push_back({.name = "gpu00" + std::to_string(i), .verdict = Verdict::pass, .tiers = {{Tier::host, Verdict::pass}, {Tier::link, Verdict::pass}}});
  NodeResult& bad = result.nodes[3];
  bad.verdict = Verdict::fail;
  bad.left_in = Tier::link;
  bad.tiers[Tier::link] = Verdict::fail;
  bad.findings.push_back(make_finding("link.down", {.host = "gpu004", .netdev = "ens1", .rail = "rail1"}, "carrier", "no <carrier> & \"nothing\" \x01\xff"));
  result.missing.push_back({"pair.rail", {"gpu001", "gpu002"}, "rail0", "no record"});
  result.paths.push_back({.rail = "", .pairs = 6, .bytes_per_s_median = 1e9, .latency_s_median = 3e-5});
  result.paths.push_back({.rail = "rail0", .pairs = 6, .bytes_per_s_median = 1.2e8, .latency_s_median = 2e-5, .cpu_s_per_byte_median = 4e-10});
  result.paths.push_back({.rail = "rail0", .rdma = true, .pairs = 6, .bytes_per_s_median = 1.25e8, .latency_s_median = 2e-6, .cpu_s_per_byte_median = 8e-9});
  result.counts[Tier::link][Verdict::pass] = 7;
  return result;
}

const RunIdentity identity{"run-7", "abc", "0.1", "default"};

TEST(Writers, TheTableFoldsEqualNodesAndSaysWhatToDo) {
  const std::string table = to_table(some_result());
  EXPECT_THAT(table, HasSubstr("gpu[001-003]"));
  EXPECT_THAT(table, HasSubstr("Check cable, peer port"));
  EXPECT_THAT(table, HasSubstr("pair.rail gpu001,gpu002 rail0: no record"));
  EXPECT_THAT(table, HasSubstr("overlay"));
  EXPECT_THAT(table, HasSubstr("8.00 Gb/s"));
  EXPECT_THAT(table, testing::EndsWith("NOT READY: link.down gpu004 rail1\n"));
}

TEST(Writers, RdmaAndTcpOfARailStandSideBySideWithWhatTheyCost) {
  const std::string table = to_table(some_result());
  EXPECT_THAT(table, HasSubstr("cpu s/GB"));
  EXPECT_THAT(table, testing::ContainsRegex("overlay .* -\n  rail0 .* 960.0 Mb/s .* 0.4\n  rail0 rdma .* 1.00 Gb/s .* 2.0 us .* 8\n"));
  const auto paths = nlohmann::json::parse(to_summary(some_result(), identity, "atlas")).at("paths");
  EXPECT_EQ(paths.at(1).at("engine"), "tcp");
  EXPECT_EQ(paths.at(2).at("engine"), "rdma");
  EXPECT_EQ(paths.at(2).at("cpu_s_per_byte_median"), 8e-9);
}

TEST(Writers, WhatStagingChangedAndARebootUndoesIsToldBesideTheVerdict) {
  GateResult result = some_result();
  EXPECT_THAT(to_table(result), Not(HasSubstr("staging")));
  for (const int changed : {0, 1}) result.nodes[static_cast<std::size_t>(changed)].changed = true;
  result.nodes[0].lost_at_reboot = true;
  EXPECT_THAT(to_table(result), HasSubstr("staging changed gpu[001-002]; what was done is in stage.txt\n  lost at a reboot on gpu001: "));
  const auto summary = nlohmann::json::parse(to_summary(result, identity, "atlas"));
  EXPECT_TRUE(summary.at("nodes")[0].at("lost_at_reboot"));
  EXPECT_TRUE(summary.at("nodes")[1].at("changed"));
  EXPECT_FALSE(summary.at("nodes")[2].contains("changed"));
}

TEST(Writers, TheSameFindingOfManyNodesIsOneBlock) {
  GateResult result = some_result();
  for (NodeResult& node : result.nodes) node.findings = {make_finding("rdma.memlock_limit", {.host = node.name}, "unlimited", "64 KiB")};
  const std::string table = to_table(result);
  EXPECT_THAT(table, HasSubstr("rdma.memlock_limit  gpu[001-004]"));
}

TEST(Writers, ANodeThatOnlyAPairMakesInconclusiveIsExplained) {
  GateResult result = some_result();
  for (const int end : {0, 1}) result.nodes[static_cast<std::size_t>(end)].verdict = Verdict::inconclusive;
  EXPECT_THAT(to_table(result), Not(HasSubstr("in pairs")));  // nothing says so
  result.findings.push_back(make_finding("pair.below_floor", {.host = "gpu001", .rail = "rail0", .peer = "gpu002"}, "8 Gb/s", "4 Gb/s"));
  EXPECT_THAT(to_table(result), HasSubstr("  gpu[001-002]: inconclusive because of what they failed in pairs"));
}

TEST(Writers, TheSummaryIsJsonWithExitCodeAndEveryNode) {
  const auto summary = nlohmann::json::parse(to_summary(some_result(), identity, "atlas"));
  EXPECT_EQ(summary.at("exit_code"), 1);
  EXPECT_EQ(summary.at("nodes").size(), 4U);
  EXPECT_EQ(summary.at("nodes")[3].at("left_in"), "link");
  EXPECT_EQ(summary.at("nodes")[3].at("findings")[0].at("cause"), "link.down");
  EXPECT_EQ(summary.at("missing")[0].at("hosts")[1], "gpu002");
  EXPECT_EQ(summary.at("run"), "run-7");
}

/// README.md lists them.
TEST(Writers, TheSummaryHasEveryKeyThatItsReadersKnow) {
  const auto summary = nlohmann::json::parse(to_summary(some_result(), identity, "atlas"));
  const auto expect_keys = [](const nlohmann::json& part, std::vector<std::string> keys) {
    std::vector<std::string> found;
    for (const auto& [key, value] : part.items()) found.push_back(key);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(keys));
  };
  expect_keys(summary, {"schema", "cluster", "run", "inventory", "build", "suite", "text", "only", "verdict", "exit_code", "reason",
                        "coverage", "emulated", "records", "nodes", "findings", "missing", "paths", "counts"});
  expect_keys(summary.at("nodes")[3], {"name", "required", "verdict", "left_in", "tiers", "findings"});
  expect_keys(summary.at("missing")[0], {"check", "hosts", "rail", "reason"});
  expect_keys(summary.at("paths")[0], {"rail", "engine", "pairs", "bytes_per_s_median", "bytes_per_s_min", "latency_s_median",
                                       "latency_s_max", "cpu_s_per_byte_median"});
  EXPECT_EQ(summary.at("counts").at("link").at("pass"), 7);
}

TEST(Writers, JunitTellsFailuresErrorsSkipsAndPassesApart) {
  const std::pair<Verdict, const char*> expected[] = {
      {Verdict::pass, "/>"}, {Verdict::warn, "/>"}, {Verdict::skip, ">\n      <skipped "}, {Verdict::fail, ">\n      <failure "},
      {Verdict::blocked, ">\n      <failure "}, {Verdict::inconclusive, ">\n      <error "}, {Verdict::not_run, ">\n      <error "}};
  for (const auto& [verdict, element] : expected) {
    GateResult result = some_result();
    result.nodes[0].tiers[Tier::host] = verdict;
    EXPECT_THAT(to_junit(result, identity, "atlas"), HasSubstr(std::string("classname=\"host\" name=\"gpu001\"") + element)) << to_string(verdict);
  }
}

TEST(Writers, JunitIsXmlForAParserThatIsNotOurs) {
  const std::string xml = to_junit(some_result(), identity, "at<l>as & \"co\"");
  EXPECT_THAT(xml, HasSubstr("&lt;carrier&gt; &amp; &quot;nothing&quot;"));
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
  const std::string path = testing::TempDir() + "fabricgate_junit_test.xml";
  ASSERT_TRUE(write_file_atomic(path, xml));
  const std::string count =
      "python3 -c \"import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); "
      "assert len(r.findall('.//testcase')) == 10, len(r.findall('.//testcase')); "
      "assert len(r.findall('.//failure')) == 2; assert len(r.findall('.//error')) == 1\" ";
  EXPECT_EQ(std::system((count + path).c_str()), 0) << xml;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace fabricgate
