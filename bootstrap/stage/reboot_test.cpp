#include "bootstrap/stage/reboot.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>

#include <cstdlib>
#include <set>

#include "bootstrap/command/quote.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Nodes that wait for a reboot and do as told; the head's boot id is "head".
struct Fleet {
  std::vector<NodeReport> reports;
  std::map<std::size_t, int> boots;
  std::vector<std::string> events;
  std::set<std::size_t> lost, undrained, refusing, still_waiting;
  bool interrupted = false;

  explicit Fleet(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) reports.push_back(report(i, true));
  }
  std::string machine(std::size_t node) {
    return "boot" + std::to_string(node) + "." + std::to_string(boots[node]) + "/uts";
  }
  NodeReport report(std::size_t node, bool waits) {
    NodeReport out{
        .node = node, .name = "n" + std::to_string(node), .state = NodeState::changed, .machine = machine(node)};
    if (waits) {
      out.findings = {make_finding("kernel.cmdline_pending", {.host = out.name}, "booted with", "without")};
      out.state = NodeState::blocked;
    }
    return out;
  }
  RebootMeans means() {
    return {.drain =
                [this](const std::vector<std::size_t>& nodes) {
                  std::map<std::size_t, std::string> out;
                  for (const std::size_t node : nodes) {
                    events.push_back("drain " + std::to_string(node));
                    if (undrained.count(node)) out[node] = "pods stay";
                  }
                  return out;
                },
            .order =
                [this](const std::vector<const NodeReport*>& told) {
                  std::map<std::size_t, std::string> out;
                  for (const NodeReport* report : told) {
                    events.push_back("reboot " + std::to_string(report->node));
                    if (refusing.count(report->node))
                      out[report->node] = "not allowed";
                    else if (!lost.count(report->node))
                      ++boots[report->node];
                  }
                  return out;
                },
            .boot_ids =
                [this](const std::vector<std::size_t>& nodes) {
                  std::map<std::size_t, std::string> out;
                  for (const std::size_t node : nodes)
                    if (!lost.count(node)) out[node] = machine(node).substr(0, machine(node).find('/'));
                  return out;
                },
            .stage = [this](const std::vector<std::size_t>& nodes) -> Result<std::vector<NodeReport>> {
              std::vector<NodeReport> out;
              for (const std::size_t node : nodes) {
                events.push_back("stage " + std::to_string(node));
                out.push_back(report(node, boots[node] == 0 || still_waiting.count(node)));
              }
              return out;
            },
            .pause = [] {},
            .stop = [this] { return interrupted; }};
  }
  Status run(const Wave& wave) {
    return reboot_in_waves(reports, {.wave = wave, .head_boot_id = "head", .timeout_s = 0.05}, means());
  }
};

TEST(RebootWaves, AWaveIsANumberOrAShareOfAtLeastOne) {
  EXPECT_EQ(parse_wave("10%")->of(4), 1u);
  EXPECT_EQ(parse_wave("10%")->of(64), 6u);
  EXPECT_EQ(parse_wave("100%")->of(7), 7u);
  EXPECT_EQ(parse_wave("3")->of(64), 3u);
  EXPECT_EQ(parse_wave("3")->most(7), 3u);
  for (const char* text : {"1%", "10%", "34%", "100%"})
    for (std::size_t all = 1; all < 300; ++all) {
      const std::size_t size = parse_wave(text)->of(all);
      EXPECT_GE(parse_wave(text)->most(all), (all + size - 1) / size) << text << ' ' << all;
    }
  for (const char* bad : {"", "%", "0", "0%", "101%", "-1", "10 %", "ten", "1.5"}) EXPECT_FALSE(parse_wave(bad)) << bad;
}

TEST(RebootWaves, EachWaveIsDrainedRebootedAndStagedBeforeTheNext) {
  Fleet fleet(2);
  ASSERT_TRUE(fleet.run({.nodes = 1}));
  EXPECT_THAT(fleet.events, ElementsAre("drain 0", "reboot 0", "stage 0", "stage 1", "drain 1", "reboot 1", "stage 1"));
  for (const NodeReport& report : fleet.reports) EXPECT_EQ(report.state, NodeState::changed);
}

TEST(RebootWaves, ANodeThatDoesNotComeBackIsNamedAndNoFurtherWaveIsBegun) {
  Fleet fleet(3);
  fleet.lost = {0};
  ASSERT_TRUE(fleet.run({.nodes = 1}));
  EXPECT_THAT(fleet.events, ElementsAre("drain 0", "reboot 0"));
  EXPECT_EQ(fleet.reports[0].findings.back().cause, "stage.reboot_lost");
  EXPECT_EQ(fleet.reports[0].findings.back().subject.host, "n0");
  EXPECT_EQ(fleet.reports[0].state, NodeState::failed);
  EXPECT_EQ(fleet.reports[1].state, NodeState::blocked);
}

TEST(RebootWaves, WhatIsNotDrainedOrRefusesIsNamedAndTheOthersGoOn) {
  Fleet fleet(3);
  fleet.undrained = {0};
  fleet.refusing = {1};
  ASSERT_TRUE(fleet.run({.nodes = 3}));
  EXPECT_THAT(fleet.events, ElementsAre("drain 0", "drain 1", "drain 2", "reboot 1", "reboot 2", "stage 2"));
  EXPECT_EQ(fleet.reports[0].findings.back().cause, "stage.drain_failed");
  EXPECT_EQ(fleet.reports[1].findings.back().cause, "stage.reboot_refused");
  EXPECT_EQ(fleet.reports[2].state, NodeState::changed);
}

TEST(RebootWaves, TheHeadABusyNodeAndOneThatIsNotKnownAreNeverRebooted) {
  Fleet fleet(4);
  fleet.reports[0].machine = "head/uts";
  fleet.reports[1].findings.push_back(make_finding("stage.node_busy", {.host = "n1"}, "free", "a job"));
  fleet.reports[2].machine = "";
  fleet.reports[3].findings.clear();
  ASSERT_TRUE(fleet.run({.nodes = 4}));
  EXPECT_THAT(fleet.events, IsEmpty());
  EXPECT_EQ(fleet.reports[0].findings.back().cause, "stage.reboot_refused");
  EXPECT_THAT(fleet.reports[0].findings.back().found, HasSubstr("reboot it by hand"));
  EXPECT_EQ(fleet.reports[1].findings.size(), 2u);
  Fleet unknown_head(1);
  EXPECT_FALSE(waits_for_reboot(unknown_head.reports[0], ""));
}

TEST(RebootWaves, ANodeThatStillWaitsAfterItsRebootIsNotRebootedAgain) {
  Fleet fleet(1);
  fleet.still_waiting = {0};
  ASSERT_TRUE(fleet.run({.nodes = 1}));
  EXPECT_THAT(fleet.events, ElementsAre("drain 0", "reboot 0", "stage 0"));
  EXPECT_EQ(fleet.reports[0].state, NodeState::blocked);
}

TEST(RebootWaves, WhatHasComeUpSinceTheLookIsNotRebootedAgain) {
  Fleet fleet(2);
  fleet.boots[1] = 1;  // by another hand, while the first wave was under way
  ASSERT_TRUE(fleet.run({.nodes = 1}));
  EXPECT_THAT(fleet.events, ElementsAre("drain 0", "reboot 0", "stage 0", "stage 1"));
}

int exit_code_of(std::vector<std::string> words) {
  std::string line;
  words[2] = "systemctl() { exit 99; }; sleep() { exit 99; }\n" + words[2];  // it would have rebooted
  for (const std::string& word : words) line += *quote_argument(word) + " ";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(RebootCommand, SparesTheHeadAndAMachineThatHasBootedSince) {
  const std::string now = read_file("/proc/sys/kernel/random/boot_id")->substr(0, 36);
  EXPECT_EQ(exit_code_of(reboot_command(now, now)), exit_is_head);
  EXPECT_EQ(exit_code_of(reboot_command("older", "other")), exit_booted_since);
}

TEST(RebootWaves, AnInterruptedRunBeginsNoWave) {
  Fleet fleet(2);
  fleet.interrupted = true;
  ASSERT_TRUE(fleet.run({.nodes = 1}));
  EXPECT_THAT(fleet.events, IsEmpty());
}

}  // namespace
}  // namespace fabricgate::bootstrap
