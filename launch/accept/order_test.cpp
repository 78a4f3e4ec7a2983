#include "launch/accept/order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const broken[] = {"", "{", "null", "[]", "{}", R"({"kind":"link"})", R"({"lines":[],"data":1})"};

TEST(Order, ItComesBackAsItWas) {
  const auto order = order_from_text(to_text(Order{.kind = "pairs", .body = {{"rounds", {1, 2}}}, .seconds = 2.5}));
  ASSERT_TRUE(order) << order.error().what;
  EXPECT_EQ(order->kind, "pairs");
  EXPECT_EQ(order->body.at("rounds").at(1), 2);
  EXPECT_EQ(order->seconds, 2.5);
}

TEST(Order, WhatIsNoOrderIsAnErrorThatSaysSo) {
  for (const char* text : broken) {
    const auto order = order_from_text(text);
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().kind, ErrorKind::parse);
    EXPECT_THAT(order.error().what, HasSubstr("order: "));
  }
  EXPECT_FALSE(order_from_text(R"({"kind":"link","body":{},"seconds":"soon"})"));
  EXPECT_FALSE(order_from_text(R"({"kind":7,"body":{},"seconds":1})"));
}

TEST(Order, EveryCutOfAnOrderIsAnError) {
  const std::string text = to_text(Order{.kind = "facts", .body = {{"a", "b"}}, .seconds = 1});
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(order_from_text(text.substr(0, length))) << length;
}

TEST(Reply, ItComesBackAsItWas) {
  const auto reply = reply_from_text(
      to_text(Reply{.lines = {"{\"a\":1}", ""}, .data = {{"mac", "02:00"}}, .error = "link: no such device"}));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_THAT(reply->lines, ElementsAre("{\"a\":1}", ""));
  EXPECT_EQ(reply->data.at("mac"), "02:00");
  EXPECT_EQ(reply->error, "link: no such device");
}

TEST(Reply, BytesThatAreNoTextDoNotStopIt) {
  const auto reply = reply_from_text(to_text(Reply{.lines = {}, .data = nullptr, .error = "driver said \xff\xfe"}));
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_THAT(reply->error, HasSubstr("driver said "));
}

TEST(Reply, WhatIsNoReplyIsAnErrorThatSaysSo) {
  for (const char* text : broken) {
    const auto reply = reply_from_text(text);
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error().kind, ErrorKind::parse);
    EXPECT_THAT(reply.error().what, HasSubstr("reply: "));
  }
  EXPECT_FALSE(reply_from_text(R"({"lines":[1],"data":null,"error":""})"));
}

}  // namespace
}  // namespace fabricgate::launch
