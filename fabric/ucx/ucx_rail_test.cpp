#include "fabric/ucx/ucx_rail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

struct Ends {
  std::unique_ptr<UcxRail> rail_a, rail_b;
  std::unique_ptr<UcxChannel> a, b;

  Ends() {
    rail_a = UcxRail::open("lo").value();
    rail_b = UcxRail::open("lo").value();
    a = rail_a->connect(rail_b->address(), 0, 1).value();
    b = rail_b->connect(rail_a->address(), 1, 0).value();
  }
  void move_until_idle(const Transfer& first, const Transfer& second) {
    const auto deadline = Deadline::in_seconds(5);
    while ((first.busy() || second.busy()) && !deadline.passed()) {
      if (a) (void)a->progress({.sleep_s = 0});
      if (b) (void)b->progress({.sleep_s = 0});
    }
  }
};

TEST(UcxRail, AnInterfaceThatDoesNotExistIsAnErrorThatNamesIt) {
  auto rail = UcxRail::open("nosuch0");
  ASSERT_FALSE(rail);
  EXPECT_THAT(rail.error().what, HasSubstr("nosuch0"));
}

TEST(UcxRail, CarriesAShortAndALongMessage) {
  Ends ends;
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{4} << 20}) {
    auto* out = ends.a->memory(bytes);
    auto* in = ends.b->memory(bytes);
    std::memset(out, 0x5a, bytes);
    auto& sent = ends.a->transfer();
    auto& received = ends.b->transfer();
    ASSERT_TRUE(ends.b->receive(Lane::data, in, bytes, received));
    ASSERT_TRUE(ends.a->send(Lane::data, out, bytes, sent));
    ends.move_until_idle(sent, received);
    EXPECT_EQ(sent.state, Transfer::State::done);
    EXPECT_EQ(received.state, Transfer::State::done) << received.error;
    EXPECT_EQ(std::memcmp(in, out, bytes), 0);
  }
}

TEST(UcxRail, LanesDoNotMix) {
  Ends ends;
  std::uint64_t data = 1, control = 2, got_data = 0, got_control = 0;
  auto& r1 = ends.b->transfer();
  auto& r2 = ends.b->transfer();
  auto& s1 = ends.a->transfer();
  auto& s2 = ends.a->transfer();
  ASSERT_TRUE(ends.b->receive(Lane::control, &got_control, 8, r1));
  ASSERT_TRUE(ends.b->receive(Lane::data, &got_data, 8, r2));
  ASSERT_TRUE(ends.a->send(Lane::data, &data, 8, s1));
  ASSERT_TRUE(ends.a->send(Lane::control, &control, 8, s2));
  ends.move_until_idle(r1, r2);
  EXPECT_EQ(got_data, 1u);
  EXPECT_EQ(got_control, 2u);
}

TEST(UcxRail, AMessageOfAnotherLengthFailsTheReceive) {
  Ends ends;
  std::uint64_t out[2] = {}, in[2] = {};
  auto& received = ends.b->transfer();
  auto& sent = ends.a->transfer();
  ASSERT_TRUE(ends.b->receive(Lane::data, in, 16, received));
  ASSERT_TRUE(ends.a->send(Lane::data, out, 8, sent));
  ends.move_until_idle(sent, received);
  EXPECT_EQ(received.state, Transfer::State::failed);
  EXPECT_THAT(received.error, HasSubstr("8 bytes arrived, 16 expected"));
}

TEST(UcxRail, APeerThatGoesAwayBreaksTheChannelAndClosingDoesNotHang) {
  Ends ends;
  std::uint64_t word = 7, got = 0;
  auto& received = ends.b->transfer();
  auto& sent = ends.a->transfer();
  ASSERT_TRUE(ends.b->receive(Lane::data, &got, 8, received));
  ASSERT_TRUE(ends.a->send(Lane::data, &word, 8, sent));
  ends.move_until_idle(sent, received);
  auto& waiting = ends.a->transfer();
  std::uint64_t never = 0;
  ASSERT_TRUE(ends.a->receive(Lane::data, &never, 8, waiting));
  ends.b.reset();
  ends.rail_b.reset();
  Status state;
  const auto deadline = Deadline::in_seconds(10);
  while (state && !deadline.passed()) {
    auto& again = ends.a->transfer();
    state = ends.a->send(Lane::data, &word, 8, again);
    if (state) state = ends.a->progress({.sleep_s = 0.01});
  }
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().what, HasSubstr("interface lo"));
  ends.a.reset();
}

}  // namespace
}  // namespace fabricgate::fabric
