#include "launch/gate/blame.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

JobStatus ended(const std::string& state, std::vector<Finding> findings = {}) {
  return {
      .job = "pair", .state = state, .missing = {}, .during = "", .tier = Tier::pair, .findings = std::move(findings)};
}

Finding silent(const std::string& host) {
  return make_finding("launch.rank_silent", {.host = host}, "an answer", "none");
}

/// "CAUSE HOST" of each finding.
std::vector<std::string> named(const Blame& found) {
  std::vector<std::string> out;
  for (const Finding& finding : found.findings) out.push_back(finding.cause + " " + finding.subject.host);
  return out;
}

using Names = std::vector<std::string>;

class BlameTest : public testing::Test {
 protected:
  JobEvidence seen_{.hosts = {"a", "b", "c"}};
  void say(MpirunEventKind kind, const std::string& host) {
    seen_.said.events.push_back({.kind = kind, .host = host, .text = "what mpirun said"});
  }
};

TEST_F(BlameTest, ACompleteJobBlamesNobodyWhateverMpirunSaid) {
  seen_.status = ended("complete");
  say(MpirunEventKind::daemon_lost, "b");
  const Blame found = blame(seen_);
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.findings.empty());
  seen_.signal = 9;  // it was about to end anyhow
  EXPECT_TRUE(blame(seen_).complete);
}

TEST_F(BlameTest, ADaemonThatWasKilledNamesItsNodeThoughItsLauncherToldEveryRankToEnd) {
  seen_.status = ended("interrupted");
  say(MpirunEventKind::daemon_lost, "b");
  say(MpirunEventKind::rank_ended, "a");  // they end themselves once they are told to
  EXPECT_EQ(named(blame(seen_)), Names{"launch.daemon_lost b"});
}

TEST_F(BlameTest, AKilledMpirunIsTheHeadsTroubleWhateverItsEchoesSay) {
  seen_.signal = 9;
  for (const auto& status : {std::optional<JobStatus>(), std::optional(ended("interrupted")),
                             std::optional(ended("rank_missing", {silent("b")}))}) {
    seen_.status = status;
    const Blame found = blame(seen_);
    EXPECT_TRUE(found.findings.empty());
    EXPECT_EQ(found.reason, "mpirun ended by signal 9 on the head");
    EXPECT_TRUE(found.again);
  }
}

TEST_F(BlameTest, ANodeThatNoLongerAnswersIsLostThoughMpirunWasKilledToo) {
  seen_.signal = 9;
  seen_.unreachable = {"c"};
  EXPECT_EQ(named(blame(seen_)), Names{"launch.daemon_lost c"});
}

TEST_F(BlameTest, RanksThatWereToldToEndByNobodyKnownAreStartedOnceMoreAndBlameNobody) {
  seen_.status = ended("interrupted");
  const Blame found = blame(seen_);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_TRUE(found.again);
  EXPECT_NE(found.reason, "");
}

TEST_F(BlameTest, WhoseTimeIsOverIsNotStartedAgain) {
  seen_.status = ended("no_time");
  EXPECT_FALSE(blame(seen_).again);
  seen_.status = ended("interrupted");
  seen_.timed_out = true;
  const Blame found = blame(seen_);
  EXPECT_FALSE(found.again);
  EXPECT_NE(found.reason.find("time of the job was over"), std::string::npos);
  EXPECT_NE(found.reason.find("repair what the other findings name"), std::string::npos) << "what to do, which is not to look for a kill";
}

TEST_F(BlameTest, EveryHostIsNamedOnceByTheFirstThatIsKnownOfIt) {
  seen_.unreachable = {"a"};
  seen_.given_up = {{"a", silent("a")}, {"b", silent("b")}};
  seen_.status = ended("rank_missing", {silent("b"), silent("c")});
  EXPECT_EQ(named(blame(seen_)), (Names{"launch.daemon_lost a", "launch.rank_silent b", "launch.rank_silent c"}));
}

TEST_F(BlameTest, AnAbsenceOfWhatCouldNotBeFetchedIsHeldAgainstNobody) {
  seen_.fetched = false;
  say(MpirunEventKind::rank_killed, "b");
  EXPECT_FALSE(blame(seen_).decided());
}

TEST_F(BlameTest, WhatMpirunSaysOfRanksThatTheUserEndedBlamesNobody) {
  seen_.status = ended("interrupted");
  seen_.interrupted = true;
  say(MpirunEventKind::rank_killed, "b");
  EXPECT_FALSE(blame(seen_).decided());
}

TEST_F(BlameTest, ADaemonThatDidNotStartNamesTheNodeWhoseSshSaysSo) {
  say(MpirunEventKind::daemon_not_started, "c");
  say(MpirunEventKind::daemon_not_started, "");
  EXPECT_EQ(named(blame(seen_)), Names{"launch.daemon_failed c"});
}

TEST_F(BlameTest, AnEventThatNamesNoHostOfTheJobLeavesItUndecided) {
  say(MpirunEventKind::daemon_not_started, "");
  say(MpirunEventKind::ssh_unreachable, "elsewhere");
  EXPECT_FALSE(blame(seen_).decided());
}

TEST_F(BlameTest, WhereNoNodeOfSeveralAnswersNobodyIsBlamed) {
  for (const char* host : {"a", "b", "c"}) {
    seen_.unreachable.insert(host);
    seen_.given_up[host] = silent(host);
  }
  const Blame found = blame(seen_);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_TRUE(found.cut_off);
  EXPECT_FALSE(found.again);
  EXPECT_NE(found.reason.find("none of 3 nodes answers"), std::string::npos);
  seen_.unreachable.erase("a");
  seen_.given_up.erase("a");
  EXPECT_EQ(named(blame(seen_)), (Names{"launch.daemon_lost b", "launch.daemon_lost c"}));
  EXPECT_EQ(named(blame({.hosts = {"b"}, .unreachable = {"b"}})), Names{"launch.daemon_lost b"});
}

TEST_F(BlameTest, NodesThatAllFellSilentForAWhileAreNotBlamedAndTheJobIsStartedAgain) {
  for (const char* host : {"a", "b", "c"}) seen_.given_up[host] = silent(host);
  seen_.nobody_reached = true;
  const Blame found = blame(seen_);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_TRUE(found.again);
  EXPECT_NE(found.reason.find("none of 3 nodes answered"), std::string::npos);
  seen_.unreachable = {"b"};  // that one stayed away
  EXPECT_EQ(named(blame(seen_)).front(), "launch.daemon_lost b");
}

}  // namespace
}  // namespace fabricgate::launch
