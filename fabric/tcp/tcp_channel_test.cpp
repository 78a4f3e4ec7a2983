#include "fabric/tcp/tcp_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

struct Ends {
  std::unique_ptr<TcpChannel> a, b;

  Ends() {
    auto listener = tcp_listen("127.0.0.1").value();
    auto out = tcp_connect("127.0.0.1", "127.0.0.1", listener.port, Deadline::in_seconds(5)).value();
    auto in = tcp_accept(listener, "127.0.0.1", Deadline::in_seconds(5)).value();
    a = std::make_unique<TcpChannel>(std::move(out));
    b = std::make_unique<TcpChannel>(std::move(in));
  }
  void move_until_idle(const Transfer& first, const Transfer& second) {
    const auto deadline = Deadline::in_seconds(5);
    while ((first.busy() || second.busy()) && !deadline.passed()) {
      (void)a->progress({.sleep_s = 0});
      (void)b->progress({.sleep_s = 0});
    }
  }
};

TEST(TcpChannel, CarriesMessagesLargerThanTheSocketBuffers) {
  Ends ends;
  const std::size_t bytes = 16 << 20;
  auto* out = ends.a->memory(bytes);
  auto* in = ends.b->memory(bytes);
  std::memset(out, 0x3c, bytes);
  auto& sent = ends.a->transfer();
  auto& received = ends.b->transfer();
  ASSERT_TRUE(ends.a->send(Lane::data, out, bytes, sent));
  ASSERT_TRUE(ends.b->receive(Lane::data, in, bytes, received));
  ends.move_until_idle(sent, received);
  EXPECT_EQ(received.state, Transfer::State::done);
  EXPECT_EQ(std::memcmp(in, out, bytes), 0);
}

TEST(TcpChannel, EachLaneFillsItsOwnReceivesInOrder) {
  Ends ends;
  const std::uint64_t out[3] = {1, 2, 3};
  std::uint64_t data[2] = {}, control = 0;
  auto& r1 = ends.b->transfer();
  auto& r2 = ends.b->transfer();
  auto& r3 = ends.b->transfer();
  auto& s1 = ends.a->transfer();
  auto& s2 = ends.a->transfer();
  auto& s3 = ends.a->transfer();
  ASSERT_TRUE(ends.b->receive(Lane::control, &control, 8, r1));
  ASSERT_TRUE(ends.b->receive(Lane::data, &data[0], 8, r2));
  ASSERT_TRUE(ends.b->receive(Lane::data, &data[1], 8, r3));
  ASSERT_TRUE(ends.a->send(Lane::data, &out[0], 8, s1));
  ASSERT_TRUE(ends.a->send(Lane::control, &out[1], 8, s2));
  ASSERT_TRUE(ends.a->send(Lane::data, &out[2], 8, s3));
  ends.move_until_idle(r1, r3);
  EXPECT_EQ(data[0], 1u);
  EXPECT_EQ(data[1], 3u);
  EXPECT_EQ(control, 2u);
}

TEST(TcpChannel, APeerThatClosesIsAnError) {
  Ends ends;
  ends.b.reset();
  Status state;
  const auto deadline = Deadline::in_seconds(5);
  while (state && !deadline.passed()) state = ends.a->progress({.sleep_s = 0.01});
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().what, HasSubstr("closed the connection"));
}

TEST(TcpChannel, AMessageOfAnotherLengthIsAnError) {
  Ends ends;
  std::uint64_t out[2] = {}, in[2] = {};
  auto& sent = ends.a->transfer();
  auto& received = ends.b->transfer();
  ASSERT_TRUE(ends.b->receive(Lane::data, in, 16, received));
  ASSERT_TRUE(ends.a->send(Lane::data, out, 8, sent));
  ends.move_until_idle(sent, received);
  EXPECT_EQ(received.state, Transfer::State::failed);
  EXPECT_THAT(received.error, HasSubstr("8 bytes arrived, 16 expected"));
}

TEST(TcpConnect, NobodyListeningAnAddressOfAnotherMachineAndASilentPeerAreErrorsThatNameTheAddress) {
  int port = 0;
  { port = tcp_listen("127.0.0.1").value().port; }
  auto refused = tcp_connect("127.0.0.1", "127.0.0.1", port, Deadline::in_seconds(5));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("127.0.0.1:" + std::to_string(port)));
  auto foreign = tcp_listen("203.0.113.7");
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().what, HasSubstr("203.0.113.7"));
  auto listener = tcp_listen("127.0.0.1").value();
  EXPECT_EQ(tcp_accept(listener, "127.0.0.1", Deadline::in_seconds(0.05)).error().kind, ErrorKind::timeout);
  EXPECT_EQ(tcp_listen("localhost").error().kind, ErrorKind::parse);
}

TEST(TcpConnect, AConnectionFromAnotherAddressIsNotTakenForThePeer) {
  auto listener = tcp_listen("127.0.0.1").value();
  auto stranger = tcp_connect("127.0.0.2", "127.0.0.1", listener.port, Deadline::in_seconds(5));
  ASSERT_TRUE(stranger);
  EXPECT_EQ(tcp_accept(listener, "127.0.0.3", Deadline::in_seconds(0.1)).error().kind, ErrorKind::timeout);
}

}  // namespace
}  // namespace fabricgate::fabric
