#include "bootstrap/ssh/pool.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "bootstrap/ssh/sshd_fixture.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

class Pool : public SshdTest {
 protected:
  Outcome run(std::vector<std::string> argv, std::string input = "", double timeout_s = 20,
              std::size_t max = 64 << 20) {
    auto outcomes =
        run_on_nodes(inventory, {Job{0, std::move(argv), std::move(input), timeout_s, max}}, Deadline::in_seconds(60));
    if (!outcomes) return {0, outcomes.error(), std::nullopt, 0, 0};
    return (*outcomes)[0];
  }

  static std::string cause(const Outcome& outcome) { return outcome.finding ? outcome.finding->cause : "none"; }
  static std::string what(const Outcome& outcome) { return outcome.result ? "success" : outcome.result.error().what; }
};

TEST_F(Pool, RunsACommandAndGivesBackBothOutputsAndTheExitCode) {
  const auto outcome = run({"/bin/sh", "-c", "cat; echo problem >&2; exit 7"}, "a 'quoted' $HOME\n");
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_EQ(outcome.result->exit_code, 7);
  EXPECT_EQ(outcome.result->out, "a 'quoted' $HOME\n");
  EXPECT_EQ(outcome.result->err, "problem\n");
  EXPECT_EQ(cause(outcome), "none");
}

TEST_F(Pool, ArgumentsArriveByteForByte) {
  const std::string hard = "it's \"$(id)\" `id` \\ \n * \xff";
  const auto outcome = run({"printf", "%s", hard});
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_EQ(outcome.result->out, hard);
}

TEST_F(Pool, SignalOfTheCommandBecomesItsExitCode) {
  const auto outcome = run({"/bin/sh", "-c", "kill -KILL $$"});
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_EQ(outcome.result->exit_code, 128 + SIGKILL);
}

TEST_F(Pool, FiftyMegabytesPassBothWays) {
  std::string big(50 << 20, '\0');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * 2654435761u >> 13);
  const auto outcome = run({"cat"}, big, 60);
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_TRUE(outcome.result->out == big);
}

TEST_F(Pool, CommandThatDoesNotReadItsInputStillEnds) {
  const auto outcome = run({"/bin/sh", "-c", "exit 3"}, std::string(20 << 20, 'x'));
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_EQ(outcome.result->exit_code, 3);
}

TEST_F(Pool, OutputBeyondTheBoundIsAnError) {
  const auto outcome = run({"/bin/sh", "-c", "yes"}, "", 20, 100000);
  ASSERT_FALSE(outcome.result);
  EXPECT_THAT(what(outcome), HasSubstr("longer than 100000 bytes"));
}

TEST_F(Pool, CommandBeyondItsTimeoutIsAnErrorThatNamesIt) {
  const auto outcome = run({"sleep", "30"}, "", 0.5);
  ASSERT_FALSE(outcome.result);
  EXPECT_EQ(outcome.result.error().kind, ErrorKind::timeout);
  EXPECT_THAT(what(outcome), HasSubstr("sleep 30"));
}

TEST_F(Pool, UnknownHostKeyIsRefusedAndNotAdded) {
  ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, ""));
  const auto outcome = run({"true"});
  EXPECT_FALSE(outcome.result);
  EXPECT_EQ(cause(outcome), "ssh.host_key_unknown");
  EXPECT_THAT(what(outcome), HasSubstr("ssh-ed25519 SHA256:"));
  EXPECT_EQ(*read_file(inventory.ssh.known_hosts), "");
}

TEST_F(Pool, MissingKnownHostsFileCountsAsUnknown) {
  std::filesystem::remove(inventory.ssh.known_hosts);
  EXPECT_EQ(cause(run({"true"})), "ssh.host_key_unknown");
  EXPECT_FALSE(std::filesystem::exists(inventory.ssh.known_hosts));
}

TEST_F(Pool, ChangedHostKeyIsBlocked) {
  trust("other");
  const auto outcome = run({"true"});
  EXPECT_FALSE(outcome.result);
  ASSERT_EQ(cause(outcome), "ssh.host_key_changed");
  EXPECT_EQ(outcome.finding->verdict, Verdict::blocked);
  EXPECT_EQ(outcome.finding->subject.host, "alpha");
}

TEST_F(Pool, KeyTheNodeDoesNotAcceptIsPermissionDenied) {
  inventory.ssh.key = folder + "/other";
  const auto outcome = run({"true"});
  EXPECT_EQ(cause(outcome), "ssh.permission_denied");
  EXPECT_THAT(what(outcome), HasSubstr(inventory.ssh.key));
}

TEST_F(Pool, MissingKeyFileStopsBeforeAnyConnection) {
  inventory.ssh.key = folder + "/nothing";
  const auto outcomes = run_on_nodes(inventory, {Job{0, {"true"}, "", 5, 100}}, Deadline::in_seconds(5));
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(outcomes.error().what, HasSubstr(folder + "/nothing"));
}

TEST_F(Pool, AKeyOrKnownHostsThatIsAFifoHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo((folder + "/fifo").c_str(), 0600), 0);
  for (std::string* file : {&inventory.ssh.key, &inventory.ssh.known_hosts}) {
    const std::string own = std::exchange(*file, folder + "/fifo");
    const auto checked = check_login(inventory);
    const auto outcomes = run_on_nodes(inventory, {Job{0, {"true"}, "", 5, 100}}, Deadline::in_seconds(5));
    *file = own;
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().what, HasSubstr("/fifo: it is a FIFO"));
    ASSERT_FALSE(outcomes);
    EXPECT_EQ(outcomes.error().what, checked.error().what);
  }
}

TEST_F(Pool, EncryptedKeyWithoutAgentSaysWhatToDo) {
  ::unsetenv("SSH_AUTH_SOCK");
  inventory.ssh.key = folder + "/locked";
  const auto outcomes = run_on_nodes(inventory, {Job{0, {"true"}, "", 5, 100}}, Deadline::in_seconds(5));
  ASSERT_FALSE(outcomes);
  EXPECT_THAT(outcomes.error().what, HasSubstr("encrypted"));
  EXPECT_THAT(outcomes.error().what, HasSubstr("ssh-add"));
}

TEST_F(Pool, RefusedPortIsUnreachable) {
  inventory.ssh.port = Listener(0).port;
  const auto outcome = run({"true"});
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_THAT(what(outcome), HasSubstr("refused"));
}

TEST_F(Pool, UnknownNameIsUnreachable) {
  inventory.nodes[0].address = "no-such-node.invalid";
  const auto outcome = run({"true"});
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_THAT(what(outcome), HasSubstr("name lookup"));
}

TEST_F(Pool, NamesAreLookedUp) {
  inventory.nodes[0].address = "localhost";
  shell("sed -i s/127.0.0.1/localhost/ " + inventory.ssh.known_hosts);
  const auto outcome = run({"true"});
  EXPECT_TRUE(outcome.result) << what(outcome);
}

TEST_F(Pool, SilenceAfterAcceptNamesTheBanner) {
  const Listener silent;
  inventory.ssh.port = silent.port;
  inventory.ssh.connect_timeout_s = 0.5;
  const auto outcome = run({"true"});
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_EQ(outcome.result.error().kind, ErrorKind::timeout);
  EXPECT_THAT(what(outcome), HasSubstr("no SSH banner"));
}

TEST_F(Pool, HangAfterTheBannerNamesTheKeyExchange) {
  const Listener half;
  std::thread server([&] {
    const int fd = ::accept(half.fd, nullptr, nullptr);
    const char banner[] = "SSH-2.0-OpenSSH_9.2\r\n";
    EXPECT_GT(::send(fd, banner, sizeof banner - 1, MSG_NOSIGNAL), 0);
    char sink[4096];
    while (::recv(fd, sink, sizeof sink, 0) > 0) {
    }
    ::close(fd);
  });
  inventory.ssh.port = half.port;
  inventory.ssh.connect_timeout_s = 0.5;
  const auto outcome = run({"true"});
  server.join();
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_THAT(what(outcome), HasSubstr("hangs after its banner 'SSH-2.0-OpenSSH_9.2'"));
}

TEST_F(Pool, ServerThatDropsBeforeItsBannerIsTriedAgain) {
  const Listener rude;
  int times = 0;
  std::thread server([&] {
    for (int fd; (fd = ::accept(rude.fd, nullptr, nullptr)) >= 0; ++times) ::close(fd);
  });
  inventory.ssh.port = rude.port;
  const auto outcome = run({"true"});
  ::shutdown(rude.fd, SHUT_RDWR);
  server.join();
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_GT(times, 1);
}

TEST_F(Pool, OneSessionRunsSeveralCommands) {
  std::vector<std::string> seen;
  const Conversation talk = [&](const CommandResult* previous) -> std::optional<Command> {
    if (previous != nullptr) seen.push_back(previous->out);
    if (seen.size() == 3) return std::nullopt;
    return Command{.argv = {"/bin/sh", "-c", "echo $SSH_CONNECTION"}};
  };
  const auto outcomes = converse(inventory, {{0, talk}}, Deadline::in_seconds(20));
  ASSERT_TRUE(outcomes);
  ASSERT_TRUE((*outcomes)[0].status) << (*outcomes)[0].status.error().what;
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST_F(Pool, ThirtyTwoConnectionsAtOnceAndABadNodeAmongThem) {
  inventory.nodes.resize(33);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < 33; ++i) {
    inventory.nodes[i] = inventory.nodes[0];
    inventory.nodes[i].name = "n" + std::to_string(i);
    jobs.push_back({i, {"echo", std::to_string(i)}, "", 30, 1000});
  }
  inventory.nodes[7].address = "127.0.0.9";  // nobody listens there
  int done = 0;
  const auto outcomes = run_on_nodes(inventory, jobs, Deadline::in_seconds(60), [&](const Outcome&) { ++done; });
  ASSERT_TRUE(outcomes);
  EXPECT_EQ(done, 33);
  for (std::size_t i = 0; i < 33; ++i) {
    if (i == 7) {
      EXPECT_EQ(cause((*outcomes)[i]), "ssh.unreachable");
      continue;
    }
    ASSERT_TRUE((*outcomes)[i].result) << i << ": " << what((*outcomes)[i]);
    EXPECT_EQ((*outcomes)[i].result->out, std::to_string(i) + "\n");
  }
}

TEST_F(Pool, SmallWindowStillReachesEveryNode) {
  inventory.ssh.window = 2;
  inventory.nodes.resize(5, inventory.nodes[0]);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < 5; ++i) jobs.push_back({i, {"true"}, "", 30, 1000});
  const auto outcomes = run_on_nodes(inventory, jobs, Deadline::in_seconds(60));
  ASSERT_TRUE(outcomes);
  for (const auto& outcome : *outcomes) EXPECT_TRUE(outcome.result) << what(outcome);
}

TEST_F(Pool, PassedDeadlineLeavesEveryNodeWithATimeout) {
  inventory.nodes.resize(3, inventory.nodes[0]);
  const auto outcomes =
      run_on_nodes(inventory, {{0, {"true"}}, {1, {"true"}}, {2, {"true"}}}, Deadline::in_seconds(-1));
  ASSERT_TRUE(outcomes);
  for (const auto& outcome : *outcomes) {
    ASSERT_FALSE(outcome.result);
    EXPECT_EQ(outcome.result.error().kind, ErrorKind::timeout);
  }
}

TEST_F(Pool, LostConnectionSaysWhatWasBeingDoneAndNotTheScript) {
  const std::string script = "true\nkill -9 $PPID\nsleep 5";
  const auto lose = [&](const std::string& doing) {
    return run_on_nodes(inventory, {Job{.argv = {"/bin/sh", "-c", script}, .doing = doing}}, Deadline::in_seconds(60));
  };
  const auto named = lose("uploading /opt/x");
  ASSERT_TRUE(named);
  EXPECT_EQ(cause((*named)[0]), "ssh.unreachable");
  EXPECT_EQ((*named)[0].finding->found, "uploading /opt/x: connection lost before the command ended");
  const auto plain = lose("");
  ASSERT_TRUE(plain);
  EXPECT_THAT(what((*plain)[0]), testing::Not(HasSubstr("PPID")));
  EXPECT_THAT(what((*plain)[0]), HasSubstr("command `/bin/sh -c"));
}

TEST_F(Pool, JumpHostCarriesTheConnection) {
  inventory.ssh.jump = "root@127.0.0.1:" + std::to_string(port);
  const auto outcome = run({"/bin/sh", "-c", "echo there"});
  ASSERT_TRUE(outcome.result) << what(outcome);
  EXPECT_EQ(outcome.result->out, "there\n");
}

TEST_F(Pool, JumpHostThatCannotBeReachedIsNamed) {
  inventory.ssh.jump = "root@127.0.0.1:" + std::to_string(Listener(0).port);
  const auto outcome = run({"true"});
  EXPECT_EQ(cause(outcome), "ssh.unreachable");
  EXPECT_THAT(what(outcome), HasSubstr("jump host"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
