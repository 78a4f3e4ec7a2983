#include "inventory/logs/mpirun_log.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

TEST(MpirunLog, LostDaemonNamesTheRemoteNode) {
  const auto sample = parse_mpirun_log(
      "-----\nORTE has lost communication with a remote daemon.\n\n"
      "  HNP daemon   : [[11377,0],0] on node head\n  Remote daemon: [[11377,0],1] on node n7\n\nThis is usually due to\n");
  ASSERT_EQ(sample.events.size(), 1U);
  EXPECT_EQ(sample.events[0].kind, MpirunEventKind::daemon_lost);
  EXPECT_EQ(sample.events[0].host, "n7");
  EXPECT_EQ(sample.events[0].line, 5);
  EXPECT_EQ(sample.events[0].text, "Remote daemon: [[11377,0],1] on node n7");
}

TEST(MpirunLog, RankKilledBySignalIsReadFromOpenMpi4And5) {
  for (const char* launcher : {"mpirun", "prterun"}) {
    const auto sample = parse_mpirun_log(std::string(launcher) +
                                         " noticed that process rank 3 with PID 4711 on node n4 exited on signal 9 (Killed).\n");
    ASSERT_EQ(sample.events.size(), 1U);
    EXPECT_EQ(sample.events[0].kind, MpirunEventKind::rank_killed);
    EXPECT_EQ(sample.events[0].host, "n4");
    EXPECT_EQ(sample.events[0].rank, 3);
    EXPECT_EQ(sample.events[0].signal, 9);
  }
}

TEST(MpirunLog, MissingProgramTakesTheNodeOfItsBanner) {
  const auto sample = parse_mpirun_log(
      "mpirun was unable to find the specified executable file, and therefore\ndid not launch the job.\n\n"
      "Node:       n2\nExecutable: /opt/fabricgate/fabricgate-rank\n");
  ASSERT_EQ(sample.events.size(), 1U);
  EXPECT_EQ(sample.events[0].kind, MpirunEventKind::program_missing);
  EXPECT_EQ(sample.events[0].host, "n2");
}

TEST(MpirunLog, SshSaysWhichHostBeforeTheLauncherBanner) {
  const auto sample = parse_mpirun_log(
      "ssh: connect to host 10.0.0.5 port 22: Connection refused\nroot@10.0.0.6: Permission denied (publickey).\n"
      "ORTE was unable to reliably start one or more daemons.\n");
  ASSERT_EQ(sample.events.size(), 3U);
  EXPECT_EQ(sample.events[0].kind, MpirunEventKind::ssh_unreachable);
  EXPECT_EQ(sample.events[0].host, "10.0.0.5");
  EXPECT_EQ(sample.events[1].kind, MpirunEventKind::ssh_denied);
  EXPECT_EQ(sample.events[1].host, "10.0.0.6");
  EXPECT_EQ(sample.events[2].kind, MpirunEventKind::daemon_not_started);
}

TEST(MpirunLog, HowTheSshOfANodeEndedSaysWhereADaemonFailedToStart) {
  const auto sample = parse_mpirun_log(
      "ssh to n1 ended with exit code 0\nssh to n2 ended with exit code 3\nORTE was unable to reliably start one or more daemons.\n");
  ASSERT_EQ(sample.events.size(), 2U);
  EXPECT_EQ(sample.events[0].kind, MpirunEventKind::daemon_not_started);
  EXPECT_EQ(sample.events[0].host, "n2");
  EXPECT_EQ(sample.events[0].text, "ssh to n2 ended with exit code 3");
  EXPECT_EQ(parse_mpirun_log("ssh to n3 ended with exit code 127\n").events.at(0).kind, MpirunEventKind::program_missing);
  EXPECT_EQ(parse_mpirun_log("ssh to n3 ended with exit code 255\n").events.at(0).kind, MpirunEventKind::ssh_unreachable);
}

TEST(MpirunLog, HowTheSshOfANodeEndedNamesTheNodeOfWhatItSaidBefore) {
  const auto sample = parse_mpirun_log("Host key verification failed.\nssh to n4 ended with exit code 255\n");
  ASSERT_EQ(sample.events.size(), 1U);
  EXPECT_EQ(sample.events[0].kind, MpirunEventKind::ssh_key_unknown);
  EXPECT_EQ(sample.events[0].host, "n4");
}

TEST(MpirunLog, RepeatedBannersCountOnce) {
  const std::string banner = "There are not enough slots available in the system to satisfy the 4\nslots\n";
  EXPECT_EQ(parse_mpirun_log(banner + banner).events.size(), 1U);
}

TEST(MpirunLog, AQuietOrForeignTextHasNoEvents) {
  EXPECT_TRUE(parse_mpirun_log("").events.empty());
  EXPECT_TRUE(parse_mpirun_log("rank 0 failed to be impressed\n\n\n").events.empty());
}

}  // namespace
}  // namespace fabricgate
