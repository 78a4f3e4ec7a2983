/// On real namespaces: three hosts with two rails each on two bridges, made and removed by the test. Skips without
/// root.
#include "fabric/link/reach.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool shell(const std::string& line) {
  const int code = std::system((line + " 2>/dev/null").c_str());
  return code == 0;
}

std::uint32_t address(int rail, int host) {
  return (10U << 24) + (static_cast<std::uint32_t>(77 + rail) << 16) + static_cast<std::uint32_t>(host + 1);
}
std::string text(int rail, int host) {
  return fmt::format("10.{}.0.{}", 77 + rail, host + 1);
}
std::string mac(int rail, int host) {
  return fmt::format("02:fa:b0:00:{:02x}:{:02x}", rail, host);
}

Desired node(int host, int mtu = 9000) {
  Desired out;
  out.node = fmt::format("n{}", host);
  for (int rail = 0; rail < 2; ++rail) {
    DesiredRail entry;
    entry.name = fmt::format("rail{}", rail);
    entry.netdev = fmt::format("r{}", rail);
    entry.address = address(rail, host);
    entry.mtu = mtu;
    out.rails.push_back(entry);
  }
  return out;
}

/// Everything lives in namespaces whose names carry this process's number; the bridges have one of their own.
class ReachLab : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
    if (!shell("ip netns add " + name(9)) || !shell("ip -n " + name(9) + " link add x0 type veth peer name x1")) {
      GTEST_SKIP() << "cannot make network namespaces or veth pairs here";
    }
    for (int rail = 0; rail < 2; ++rail)
      ip(9, fmt::format("link add b{0} mtu 9000 type bridge && ip -n {1} link set b{0} up", rail, name(9)));
    for (int host = 0; host < 3; ++host) add_host(host);
  }
  void TearDown() override {
    for (const int host : {0, 1, 2, 9}) shell("ip netns del " + name(host));
  }

  static std::string name(int host) { return fmt::format("fgreach{}-{}", getpid(), host); }
  static void ip(int host, const std::string& arguments) {
    EXPECT_TRUE(shell("ip -n " + name(host) + " " + arguments)) << arguments;
  }
  static void in(int host, const std::string& line) {
    EXPECT_TRUE(shell("ip netns exec " + name(host) + " sh -c '" + line + "'")) << line;
  }
  static void plug(int host, int rail, int bridge) {
    ip(9, fmt::format("link set h{}r{} master b{}", host, rail, bridge));
  }

  static void add_host(int host) {
    ASSERT_TRUE(shell("ip netns add " + name(host)));
    in(host,
       "for k in all default; do echo 1 > /proc/sys/net/ipv4/conf/$k/arp_ignore; echo 2 > "
       "/proc/sys/net/ipv4/conf/$k/arp_announce; done");
    for (int rail = 0; rail < 2; ++rail) {
      const std::string port = fmt::format("h{}r{}", host, rail);
      ip(9, fmt::format("link add {} mtu 9000 type veth peer name r{} mtu 9000 netns {}", port, rail, name(host)));
      plug(host, rail, rail);
      ip(9, fmt::format("link set {} up", port));
      ip(host, fmt::format("link set r{} address {}", rail, mac(rail, host)));
      ip(host, fmt::format("addr add {}/16 dev r{}", text(rail, host), rail));
      ip(host, fmt::format("link set r{} up", rail));
    }
  }

  /// Runs `body` inside a host's namespace, in this thread.
  static void inside(int host, const std::function<void()>& body) {
    const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    const int there = open(("/run/netns/" + name(host)).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_TRUE(home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0);
    body();
    ASSERT_EQ(setns(home, CLONE_NEWNET), 0);
    close(home);
    close(there);
  }

  static std::vector<ReachAnswer> ask(int from, int to, int mtu = 9000) {
    std::vector<ReachAnswer> answers;
    inside(from,
           [&] { answers = run_reach(reach_questions(node(from, mtu), node(to, mtu)), {}, Deadline::in_seconds(20)); });
    EXPECT_THAT(answers, SizeIs(4));
    answers.resize(4);
    return answers;
  }
};

TEST_F(ReachLab, AHealthyPairAnswersOnItsOwnRailsAloneAndPassesFullFrames) {
  const auto answers = ask(0, 1);
  for (const ReachAnswer& answer : answers) EXPECT_EQ(answer.error, "");
  EXPECT_THAT(answers[0].macs, ElementsAre(mac(0, 1)));
  EXPECT_THAT(answers[1].macs, IsEmpty());
  EXPECT_THAT(answers[2].macs, IsEmpty());
  EXPECT_THAT(answers[3].macs, ElementsAre(mac(1, 1)));
  EXPECT_TRUE(answers[0].full_mtu && answers[3].full_mtu) << answers[0].mtu_error << answers[3].mtu_error;
}

TEST_F(ReachLab, CrossedCablesAnswerOnTheOtherRail) {
  plug(1, 0, 1);
  plug(1, 1, 0);
  for (const bool strict : {false, true}) {
    if (strict)
      in(0,
         "for f in /proc/sys/net/ipv4/conf/*/arp_ignore; do echo 2 > $f; done; for f in "
         "/proc/sys/net/ipv4/conf/*/rp_filter; do echo 1 > $f; done");
    const auto answers = ask(1, 0);
    EXPECT_THAT(answers[0].macs, IsEmpty());
    EXPECT_THAT(answers[1].macs, ElementsAre(mac(1, 0))) << strict;
    EXPECT_THAT(answers[2].macs, ElementsAre(mac(0, 0))) << strict;
    EXPECT_THAT(answers[3].macs, IsEmpty());
    EXPECT_FALSE(answers[0].full_mtu);
    EXPECT_NE(answers[0].mtu_error, "");
  }
}

TEST_F(ReachLab, AnAddressOnTwoNodesIsAnsweredByBoth) {
  ip(2, fmt::format("addr add {}/16 dev r0", text(0, 1)));
  const auto answers = ask(0, 1);
  EXPECT_THAT(answers[0].macs, ElementsAre(mac(0, 1), mac(0, 2)));
  EXPECT_THAT(answers[3].macs, ElementsAre(mac(1, 1)));
}

TEST_F(ReachLab, ASmallerMtuOnTheWayIsToldFromADeadPath) {
  ip(9, "link set h1r0 mtu 1500");
  const auto answers = ask(0, 1);
  EXPECT_THAT(answers[0].macs, SizeIs(1));
  EXPECT_FALSE(answers[0].full_mtu);
  EXPECT_THAT(answers[0].mtu_error, HasSubstr("of 9000 bytes (the declared MTU) is not"));
  EXPECT_TRUE(answers[3].full_mtu);
}

TEST_F(ReachLab, AnInterfaceSetTooSmallSaysSoItself) {
  ip(0, "link set r0 mtu 1500");
  const auto answers = ask(0, 1);
  EXPECT_THAT(answers[0].mtu_error, HasSubstr("r0 itself"));
  EXPECT_TRUE(answers[0].echo);
}

TEST_F(ReachLab, TheKernelsOwnWayIsToldOfEachRail) {
  for (const int answer : {0, 3}) {
    const NextHop hop = ask(0, 1)[static_cast<std::size_t>(answer)].next_hop;
    EXPECT_EQ(hop.error, "");
    EXPECT_EQ(hop.netdev, answer == 0 ? "r0" : "r1");
    EXPECT_EQ(hop.gateway, "");
    EXPECT_EQ(hop.mac, mac(answer == 0 ? 0 : 1, 1));
  }
}

TEST_F(ReachLab, AWrongNeighbourEntryLetsNoEchoThroughAndIsTold) {
  ip(0, fmt::format("neigh replace {} lladdr {} dev r0", text(0, 1), mac(0, 2)));
  const auto answers = ask(0, 1);
  EXPECT_THAT(answers[0].macs, ElementsAre(mac(0, 1)));
  EXPECT_FALSE(answers[0].echo);
  EXPECT_EQ(answers[0].mtu_error, "no echo of any size is answered");
  EXPECT_EQ(answers[0].next_hop.mac, mac(0, 2));
  EXPECT_TRUE(answers[3].echo);
}

TEST_F(ReachLab, ANeighbourEntryThatAThirdRelaysIsTold) {
  in(2, "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects");
  ip(0, fmt::format("neigh replace {} lladdr {} dev r0", text(0, 1), mac(0, 2)));
  const auto answers = ask(0, 1);
  EXPECT_TRUE(answers[0].full_mtu) << answers[0].mtu_error;
  EXPECT_EQ(answers[0].next_hop.mac, mac(0, 2));
}

TEST_F(ReachLab, ARuleThatLeadsTcpAwayIsToldThoughEchoesPass) {
  ip(0, fmt::format("route add {}/32 via {} dev r1 table 77", text(0, 1), text(1, 1)));
  ip(0, fmt::format("rule add from {} ipproto tcp lookup 77", text(0, 0)));
  const auto answers = ask(0, 1);
  EXPECT_TRUE(answers[0].full_mtu) << answers[0].mtu_error;
  EXPECT_EQ(answers[0].next_hop.netdev, "r1");
  EXPECT_EQ(answers[0].next_hop.gateway, text(1, 1));
}

TEST_F(ReachLab, ARouteToNowhereIsTold) {
  ip(0, fmt::format("route add unreachable {}/32", text(0, 1)));
  const auto answers = ask(0, 1);
  EXPECT_TRUE(answers[0].echo) << "bound to the interface it goes past the route";
  EXPECT_THAT(answers[0].next_hop.error, HasSubstr("no route"));
}

TEST_F(ReachLab, ADownPeerIsSilentAndADownInterfaceIsAnError) {
  ip(1, "link set r0 down");
  const auto silent = ask(0, 1);
  EXPECT_THAT(silent[0].macs, IsEmpty());
  EXPECT_EQ(silent[0].error, "");
  ip(0, "link set r1 down");
  EXPECT_THAT(ask(0, 1)[3].error, HasSubstr("r1"));
}

TEST_F(ReachLab, AnAbsentInterfaceIsNamed) {
  ip(0, "link del r1");
  const auto answers = ask(0, 1);
  EXPECT_THAT(answers[3].error, HasSubstr("r1"));
  EXPECT_THAT(answers[0].macs, ElementsAre(mac(0, 1)));
}

TEST_F(ReachLab, ManyQuestionsAtOnceEachGetTheirOwnAnswer) {
  std::vector<ReachQuestion> questions;
  for (int i = 0; i < 700; ++i) {
    ReachQuestion question = reach_questions(node(0), node(1))[0];
    question.mtu = 0;
    question.target = (10U << 24) + (77U << 16) + 1000U + static_cast<std::uint32_t>(i);
    if (i % 3 == 0) ip(1, fmt::format("addr add 10.77.{}.{}/16 dev r0", (1000 + i) / 256, (1000 + i) % 256));
    questions.push_back(question);
  }
  inside(0, [&] {
    const auto answers = run_reach(questions, {}, Deadline::in_seconds(30));
    for (int i = 0; i < 700; ++i)
      EXPECT_EQ(answers[static_cast<std::size_t>(i)].macs.size(), i % 3 == 0 ? 1u : 0u) << i;
  });
}

TEST_F(ReachLab, WithoutTheCapabilityTheErrorSaysWhatToDo) {
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(3);
    ReachQuestion question{.netdev = "lo", .target = 0x7f000001};
    const auto answers = run_reach({question}, {}, Deadline::in_seconds(5));
    _exit(answers[0].error.find("CAP_NET_RAW") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Reach, ADeadlineThatHasPassedIsAnErrorAndNotSilence) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to open the sockets";
  const auto answers =
      run_reach({{.netdev = "lo", .source = 0x7f000001, .target = 0x7f000001}}, {}, Deadline::in_seconds(-1));
  EXPECT_THAT(answers[0].error, HasSubstr("not asked in time"));
}

TEST(Reach, EveryRailIsAskedAgainstEveryRailAndTheMtuOnEqualOnes) {
  const auto questions = reach_questions(node(0, 9000), node(1, 4200));
  ASSERT_THAT(questions, SizeIs(4));
  EXPECT_EQ(questions[0].mtu, 4200);
  EXPECT_EQ(questions[1].mtu, 0);
  EXPECT_EQ(questions[1].netdev, "r0");
  EXPECT_EQ(questions[1].source, address(0, 0));
  EXPECT_EQ(questions[1].target, address(1, 1));
}

}  // namespace
}  // namespace fabricgate::fabric
