#include "fabric/tcp/flows.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <thread>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* a_address = "127.0.0.2";
constexpr const char* b_address = "127.0.0.3";

struct Ends {
  Listener a = tcp_listen(a_address).value(), b = tcp_listen(b_address).value();
  FlowsSetup of_a{.own_address = a_address, .peer_address = b_address, .peer_port = b.port};
  FlowsSetup of_b{.own_address = b_address, .peer_address = a_address, .peer_port = a.port};
  FlowsSeen at_a, at_b;

  void run() {
    const auto limit = Deadline::in_seconds(20);
    std::thread other([&] { at_b = run_flows(b, of_b, limit); });
    at_a = run_flows(a, of_a, limit);
    other.join();
  }
};

TEST(Flows, EveryConnectionOfBothEndsIsAnswered) {
  Ends ends;
  ends.run();
  for (const FlowsSeen* seen : {&ends.at_a, &ends.at_b}) {
    EXPECT_THAT(seen->dialled.error, IsEmpty());
    EXPECT_THAT(seen->dialled.first_lost, IsEmpty());
    EXPECT_EQ(seen->dialled.dialled, 64u);
    EXPECT_EQ(seen->dialled.answered, 64u);
    EXPECT_EQ(seen->accepted, 64u);
    EXPECT_GT(seen->dialled.segment_bytes, 10'000u) << "of loopback, whose MTU is 65536";
  }
}

TEST(Flows, AnEndThatTakesNoConnectionIsToldFromOneThatDoes) {
  Ends ends;
  { ends.of_b.peer_port = tcp_listen(a_address).value().port; }  // nobody listens there any more
  ends.of_a.answer_s = 0.5;
  ends.run();
  EXPECT_EQ(ends.at_a.dialled.answered, 64u);
  EXPECT_EQ(ends.at_a.accepted, 0u);
  EXPECT_TRUE(ends.at_b.dialled.dead());
  EXPECT_EQ(ends.at_b.accepted, 64u);
  EXPECT_THAT(ends.at_b.dialled.first_lost, HasSubstr("refused"));
}

TEST(Flows, ASegmentSizeThatTheOtherEndKeepsSmallIsSeenByWhoSends) {
  Ends ends;
  const int bytes = 600;
  ASSERT_EQ(::setsockopt(ends.b.socket.fd(), IPPROTO_TCP, TCP_MAXSEG, &bytes, sizeof bytes), 0);
  ends.run();
  EXPECT_LE(ends.at_a.dialled.segment_bytes, 600u);
  EXPECT_GT(ends.at_a.dialled.segment_bytes, 500u);
  EXPECT_EQ(ends.at_a.dialled.answered, 64u);
}

using Answer = std::function<std::uint64_t(std::uint64_t)>;

/// In place of b: takes all connections, answers what it reads by `answer`, dials once and is through.
void stand_in(const Ends& ends, std::set<int>& ports, const Answer& answer) {
  std::vector<Socket> taken;
  for (int i = 0; i < 64; ++i) {
    auto socket = tcp_accept(ends.b, a_address, Deadline::in_seconds(10));
    if (!socket) return;
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    ::getpeername(socket->fd(), reinterpret_cast<sockaddr*>(&peer), &length);
    ports.insert(ntohs(peer.sin_port));
    taken.push_back(std::move(*socket));
  }
  const auto limit = Deadline::in_seconds(10);
  for (const Socket& socket : taken)
    for (std::uint64_t word = 0; !limit.passed();) {
      if (::read(socket.fd(), &word, sizeof word) != sizeof word) continue;
      word = answer(word);
      if (::write(socket.fd(), &word, sizeof word) != sizeof word) break;
      break;
    }
  EXPECT_TRUE(tcp_connect(b_address, a_address, ends.a.port, limit));
}

FlowsSeen against(const Answer& answer, std::set<int>& ports) {
  Ends ends;
  std::thread other([&] { stand_in(ends, ports, answer); });
  const FlowsSeen seen = run_flows(ends.a, ends.of_a, Deadline::in_seconds(20));
  other.join();
  return seen;
}

TEST(Flows, WhoOnlySendsBackWhatCameIsNotThePeer) {
  std::set<int> ports;
  const FlowsSeen seen = against([](std::uint64_t word) { return word; }, ports);
  EXPECT_EQ(seen.dialled.dialled, 64u);
  EXPECT_EQ(seen.dialled.answered, 0u);
  EXPECT_THAT(seen.dialled.first_lost, HasSubstr("other bytes"));
}

TEST(Flows, OneConnectionThatIsAnsweredWronglyIsCountedAndItsPortIsTold) {
  std::set<int> ports;
  int answers = 0;
  const FlowsSeen seen = against([&](std::uint64_t word) { return ++answers == 7 ? word : ~word; }, ports);
  EXPECT_EQ(seen.dialled.answered, 63u);
  EXPECT_TRUE(seen.dialled.lost());
  EXPECT_FALSE(seen.dialled.dead());
  EXPECT_THAT(seen.dialled.first_lost, HasSubstr("from port "));
}

TEST(Flows, SourcePortsMeetEveryRemainderOfSixteen) {
  std::set<int> ports, remainders;
  EXPECT_EQ(against([](std::uint64_t word) { return ~word; }, ports).dialled.answered, 64u);
  EXPECT_EQ(ports.size(), 64u);
  for (const int port : ports) remainders.insert(port % 16);
  EXPECT_EQ(remainders.size(), 16u);
}

TEST(Flows, AnAddressThatIsNotOursIsAnErrorAndNoCount) {
  Ends ends;
  ends.of_a.own_address = "203.0.113.7";
  ends.of_a.answer_s = 0.1;
  const FlowsSeen seen = run_flows(ends.a, ends.of_a, Deadline::in_seconds(5));
  EXPECT_EQ(seen.dialled.dialled, 0u);
  EXPECT_THAT(seen.dialled.error, HasSubstr("203.0.113.7"));
}

}  // namespace
}  // namespace fabricgate::fabric
