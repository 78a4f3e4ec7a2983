#include "fabric/tcp/flows.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "fabric/tcp/burst.hpp"

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
    EXPECT_EQ(seen->dialled.whole, 64u);
    EXPECT_EQ(seen->dialled.blocked, 0u);
    EXPECT_GT(seen->dialled.usual_s, 0);
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

struct Asked {
  int connection = 0;  ///< in the order of arrival
  int number = 0;      ///< 0: the word, then bursts
  Message message;
};
/// nullopt: says nothing.
using Answer = std::function<std::optional<Message>(const Asked&)>;

Message right(const Asked& asked) {
  return inverted(asked.message);
}
Message wrong(const Asked& asked) {
  return {.bytes = asked.message.bytes};
}

struct StoodIn {
  Socket socket;
  Asked asked;
  Message out;
};

/// Reads what there is, answers what is whole; false when the peer closed.
bool serve(StoodIn& end, const Answer& answer) {
  if (!end.out.whole() && !end.out.write_to(end.socket)) return false;
  if (!end.asked.message.read_from(end.socket)) return false;
  if (!end.asked.message.whole()) return true;
  if (auto say = answer(end.asked)) end.out = std::move(*say);
  end.asked.message = empty_message(burst_bytes);
  ++end.asked.number;
  return end.out.write_to(end.socket);
}

/// In place of b: takes all connections, answers by `answer` until they are closed, and dials once itself.
void stand_in(const Ends& ends, std::set<int>& ports, const Answer& answer) {
  const auto limit = Deadline::in_seconds(20);
  std::vector<StoodIn> taken;
  for (int i = 0; i < 64; ++i) {
    auto socket = tcp_accept(ends.b, a_address, limit);
    if (!socket) return;
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    ::getpeername(socket->fd(), reinterpret_cast<sockaddr*>(&peer), &length);
    ports.insert(ntohs(peer.sin_port));
    taken.push_back({std::move(*socket), {.connection = i, .message = empty_message(sizeof(Token))}, {}});
  }
  const auto closed = [&](StoodIn& end) { return !serve(end, answer); };
  while (!taken.empty() && !limit.passed()) {
    taken.erase(std::remove_if(taken.begin(), taken.end(), closed), taken.end());
    std::this_thread::yield();
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
  const FlowsSeen seen = against(wrong, ports);
  EXPECT_EQ(seen.dialled.dialled, 64u);
  EXPECT_EQ(seen.dialled.answered, 0u);
  EXPECT_THAT(seen.dialled.first_lost, HasSubstr("other bytes"));
}

TEST(Flows, OneConnectionThatIsAnsweredWronglyIsCountedAndItsPortIsTold) {
  std::set<int> ports;
  const FlowsSeen seen = against([](const Asked& asked) { return asked.connection == 7 ? wrong(asked) : right(asked); }, ports);
  EXPECT_EQ(seen.dialled.answered, 63u);
  EXPECT_TRUE(seen.dialled.lost());
  EXPECT_FALSE(seen.dialled.dead());
  EXPECT_THAT(seen.dialled.first_lost, HasSubstr("from port "));
}

TEST(Flows, ABurstThatNeverComesBackIsBlockedThoughItsConnectionWasAnswered) {
  std::set<int> ports;
  const auto keeps_bursts = [](const Asked& asked) {
    return asked.connection % 16 == 3 && asked.number > 0 ? std::nullopt : std::optional(right(asked));
  };
  const FlowsSeen seen = against(keeps_bursts, ports);
  EXPECT_EQ(seen.dialled.answered, 64u);
  EXPECT_EQ(seen.dialled.whole, 60u);
  EXPECT_EQ(seen.dialled.blocked, 4u);
  EXPECT_THAT(seen.dialled.first_blocked, HasSubstr("came back"));
  EXPECT_THAT(seen.dialled.first_lost, IsEmpty());
}

/// A peer that reads no burst, into a buffer that holds none: the end of the stream stays behind it.
TEST(Flows, ThePeerHearsOfTheEndBehindABurstThatNeverArrived) {
  Ends ends;
  const int small = 4096;
  ASSERT_EQ(::setsockopt(ends.b.socket.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  ends.of_a.count = 1;
  const auto limit = Deadline::in_seconds(20);
  bool heard = false;
  std::thread other([&] {
    auto taken = tcp_accept(ends.b, a_address, limit);
    if (!taken) return;
    Message word = empty_message(sizeof(Token));
    while (!word.whole() && word.read_from(*taken) && !limit.passed()) std::this_thread::yield();
    EXPECT_TRUE(inverted(word).write_to(*taken));
    pollfd place{taken->fd(), 0, 0};
    heard = ::poll(&place, 1, 4000) > 0;
    EXPECT_TRUE(tcp_connect(b_address, a_address, ends.a.port, limit));
  });
  EXPECT_EQ(run_flows(ends.a, ends.of_a, limit).dialled.whole, 0u);
  other.join();
  EXPECT_TRUE(heard);
}

TEST(Flows, ABurstWithOtherContentIsNoneThatArrived) {
  std::set<int> ports;
  const auto flips = [](const Asked& asked) {
    Message answer = right(asked);
    if (asked.connection == 5 && asked.number > 0) answer.bytes[burst_bytes - 1] ^= 1;
    return answer;
  };
  const FlowsSeen seen = against(flips, ports);
  EXPECT_EQ(seen.dialled.whole, 63u);
  EXPECT_EQ(seen.dialled.blocked, 1u);
  EXPECT_THAT(seen.dialled.first_blocked, HasSubstr("other bytes"));
}

TEST(Flows, AConnectionThatIsSlowEveryTimeStandsOutAndOneThatIsSlowOnceDoesNot) {
  for (const bool always : {true, false}) {
    std::set<int> ports;
    const auto slow = [always](const Asked& asked) {
      if (asked.connection == 9 && (always ? asked.number > 0 : asked.number == 1))
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return right(asked);
    };
    const FlowCount seen = against(slow, ports).dialled;
    EXPECT_EQ(seen.whole, 64u);
    EXPECT_EQ(seen.slowest_s > 0.25, always) << seen.slowest_s;
    EXPECT_LE(seen.usual_s, seen.slowest_s);
  }
}

TEST(Flows, SourcePortsMeetEveryRemainderOfSixteen) {
  std::set<int> ports, remainders;
  EXPECT_EQ(against(right, ports).dialled.answered, 64u);
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
