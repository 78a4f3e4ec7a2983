#include "launch/gate/daemon.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "inventory/host/real_host.hpp"
#include "inventory/logs/mpirun_log.hpp"
#include "launch/mpirun.hpp"
#include "results/file.hpp"

namespace fabricgate::launch {
namespace {

std::string cause_of(const DaemonReading& daemon, bool started, double waited_s = 0) {
  const auto trouble = start_trouble("a", daemon, started, waited_s);
  return trouble ? trouble->cause + ": " + trouble->found : "";
}

TEST(StartTrouble, ADaemonThatReportsOrMayBeSlowIsNone) {
  EXPECT_EQ(cause_of({.pid = 7, .connected = true}, true, 60), "");
  EXPECT_EQ(cause_of({.pid = 7}, true), "") << "it may still load its libraries";
  EXPECT_EQ(cause_of({}, false), "") << "ssh may still log in";
  EXPECT_EQ(cause_of({.unwritable = "No space left"}, false), "");
}

TEST(StartTrouble, WhatCannotBecomeGoodIsNamedByItsCause) {
  EXPECT_EQ(cause_of({.pid = 7, .calls = "10.0.0.1:24000"}, true),
            "launch.head_unreachable: process 7 calls 10.0.0.1:24000 and is not answered");
  EXPECT_EQ(cause_of({.unwritable = "failed to create directory: Read-only file system", .unreached = "x"}, true),
            "launch.session_folder: failed to create directory: Read-only file system");
  EXPECT_EQ(cause_of({.unreached = "10.0.0.1:24000: Connection refused"}, true),
            "launch.head_unreachable: 10.0.0.1:24000: Connection refused");
  EXPECT_EQ(cause_of({}, true), "launch.daemon_failed: ssh started it, and it is gone");
}

TEST(StartTrouble, WhoIsStillSlowWhenTheTimeIsOverIsNamed) {
  EXPECT_EQ(cause_of({.pid = 7, .state = 'S'}, true, 63),
            "launch.daemon_failed: process 7 (state S) has not connected to the head in 63 s");
  EXPECT_EQ(cause_of({}, false, 63), "launch.daemon_failed: ssh has not started it in 63 s");
}

TEST(StartTrouble, ConnectionsOfADaemonAreReadFromTheKernelsTable) {
  const DaemonReading read = daemon_from_text("daemon 186 S\ntcp 01 FAFD1CAC:5DC0\ntcp 02 0101000A:FFFF\n");
  EXPECT_EQ(read.pid, 186);
  EXPECT_EQ(read.state, 'S');
  EXPECT_TRUE(read.connected);
  EXPECT_EQ(read.calls, "10.0.1.1:65535");
  EXPECT_EQ(daemon_from_text("unwritable no such folder\nunreached 10.0.0.1:9: no answer\n"),
            (DaemonReading{.unwritable = "no such folder", .unreached = "10.0.0.1:9: no answer"}));
}

/// What the script says on this machine.
DaemonReading look(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{"sh", "-c", daemon_script, "sh"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  RealHost host;
  const auto result = host.run(argv, Deadline::in_seconds(20));
  EXPECT_TRUE(result && result->exit_code == 0);
  return result ? daemon_from_text(result->out) : DaemonReading{};
}

TEST(DaemonScript, WhereThereIsNoDaemonTheFolderAndTheWayToTheHeadAreTried) {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const DaemonReading read = look({"no-such-run", "127.0.0.1", "1"});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(read.pid, 0);
  EXPECT_NE(read.unwritable.find("/no/such/folder"), std::string::npos) << read.unwritable;
  EXPECT_EQ(read.unreached, "127.0.0.1:1: Connection refused");
  EXPECT_EQ(look({"no-such-run"}), DaemonReading{}) << "nothing is wrong here";
}

TEST(DaemonScript, ADaemonIsKnownByItsNameAndTheRunOnItsCommandLine) {
  const std::string folder = testing::TempDir() + "/daemon" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file("/bin/sleep", folder + "/orted", std::filesystem::copy_options::overwrite_existing);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl((folder + "/orted").c_str(), "orted-of-20261201-run", "300", nullptr);
    ::_exit(1);
  }
  DaemonReading read;
  for (int i = 0; i < 1000 && read.pid == 0; ++i) read = look({"20261201-run"});  // it is ours until it became sleep
  EXPECT_EQ(read.pid, child);
  EXPECT_FALSE(read.connected);
  EXPECT_EQ(look({"20261202-run"}).pid, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::filesystem::remove_all(folder);
}

TEST(SshScript, TellsHowItEndedSoThatTheNodeOfAFailedStartIsKnown) {
  const std::string folder = testing::TempDir() + "/ssh" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file_atomic(folder + "/ssh", "#!/bin/sh\necho \"$@\"\nexit 3\n", 0755));
  ASSERT_TRUE(write_file_atomic(folder + "/script", ssh_script("/a b/config")));
  RealHost host;
  const auto result =
      host.run({"sh", "-c", "PATH=\"$0:$PATH\" exec sh \"$0/script\" n7 orted", folder}, Deadline::in_seconds(20));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "-x -F /a b/config n7 orted\n");
  EXPECT_EQ(result->exit_code, 3);
  const auto ended = ssh_end_from_line(result->err.substr(0, result->err.find('\n')));
  ASSERT_TRUE(ended) << result->err;
  EXPECT_EQ(ended->host, "n7");
  EXPECT_EQ(ended->exit_code, 3);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fabricgate::launch
