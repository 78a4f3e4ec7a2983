#include "bootstrap/agent/protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using testing::HasSubstr;

AgentAnswer answer() {
  AgentAnswer out;
  out.facts.emplace();
  out.facts->hostname = "n1";
  out.steps.push_back({"sysctl",
                       StepState::failed,
                       {"sysctl -w a=1"},
                       {make_finding("stage.disk_full", {.host = "n1", .file = "/etc"}, "space", "0")},
                       "no space"});
  return out;
}

TEST(AgentProtocol, AnAnswerSurvivesBannersAroundIt) {
  const std::string text = "Welcome\r\n*** motd without end" + frame_answer(answer(), "00ff") + "logout\n";
  auto value = extract_answer(text, "00ff");
  ASSERT_TRUE(value) << value.error().what;
  auto read = answer_from_json(*value);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->facts->hostname, "n1");
  ASSERT_EQ(read->steps.size(), 1u);
  EXPECT_EQ(read->steps[0].state, StepState::failed);
  EXPECT_EQ(read->steps[0].findings, answer().steps[0].findings);
  EXPECT_EQ(read->steps[0].commands, answer().steps[0].commands);
  EXPECT_EQ(read->steps[0].error, "no space");
}

TEST(AgentProtocol, ANodeOfAnotherRunSurvivesTheAnswer) {
  AgentAnswer refused;
  refused.in_use = Holder{{"r2", "h2", "mark", 7, 600}, true, 9};
  const auto read = answer_from_json(to_json_value(refused));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->in_use, refused.in_use);
  EXPECT_FALSE(answer_from_json(to_json_value(answer()))->in_use);
}

TEST(AgentProtocol, AnAnswerCutOffAnywhereIsAnError) {
  const std::string text = frame_answer(answer(), "00ff");
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(extract_answer(text.substr(0, length), "00ff")) << length;
  EXPECT_TRUE(extract_answer(text.substr(0, text.size() - 1), "00ff")) << "only the last line end is missing";
}

TEST(AgentProtocol, AnAlteredByteIsAnError) {
  std::string text = frame_answer(answer(), "00ff");
  text[text.find("\"n1\"") + 1] = 'm';
  EXPECT_THAT(extract_answer(text, "00ff").error().what, HasSubstr("checksum"));
}

TEST(AgentProtocol, AnAnswerToAnotherRequestIsNotTaken) {
  EXPECT_THAT(extract_answer(frame_answer(answer(), "00ff"), "00fe").error().what, HasSubstr("no begin marker"));
}

TEST(AgentProtocol, ARequestComesBackAsItWasSent) {
  AgentRequest request;  // not one initializer: GCC 12 at -O3 takes what it leaves out for uninitialized
  request.nonce = "ab";
  request.op = AgentOp::apply;
  request.desired = {{"node", "n1"}};
  request.facts_request = {{"a"}, {"/b"}, {"/usr"}};
  request.run = "r1";
  request.journal = "/var/j";
  request.only_steps = {"sysctl"};
  request.allow_busy = true;
  request.deadline_s = 7.5;
  request.watched = true;
  auto body = request_body(frame_request(request), false);
  ASSERT_TRUE(body && *body);
  auto read = parse_request(**body);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(to_json_value(*read), to_json_value(request));
}

TEST(AgentProtocol, AFramedRequestIsWholeWithoutTheEndOfInput) {
  const std::string framed = frame_request({.nonce = "ab"});
  for (std::size_t length = 0; length < framed.size(); ++length) {
    auto part = request_body(framed.substr(0, length), false);
    ASSERT_TRUE(part) << length;
    EXPECT_FALSE(*part) << length;
    EXPECT_EQ(static_cast<bool>(request_body(framed.substr(0, length), true)), length == 0) << length;
  }
  EXPECT_TRUE(*request_body(framed + "trailing", false));
}

TEST(AgentProtocol, ABareRequestIsWholeAtTheEndOfInput) {
  const std::string bare = to_json_value(AgentRequest{.nonce = "ab"}).dump();
  EXPECT_FALSE(*request_body(bare, false));
  EXPECT_EQ(**request_body(bare, true), bare);
}

TEST(AgentProtocol, BadRequestsSayWhatWasExpected) {
  const auto what = [](const char* text) {
    auto r = parse_request(text);
    return r ? std::string("accepted") : r.error().what;
  };
  EXPECT_THAT(what("hello"), HasSubstr("parse error"));
  EXPECT_THAT(what("[]"), HasSubstr("agent request"));
  EXPECT_THAT(what(R"({"schema":2,"nonce":"a","op":"facts"})"), HasSubstr("different builds"));
  EXPECT_THAT(what(R"({"schema":1,"nonce":"XY","op":"facts"})"), HasSubstr("nonce"));
  EXPECT_THAT(what(R"({"schema":1,"nonce":"a","op":"erase"})"), HasSubstr("facts, plan, apply, plan_undo or undo"));
  EXPECT_THAT(what(R"({"schema":1,"nonce":"a","op":"apply"})"), HasSubstr("desired"));
  EXPECT_THAT(what(R"({"schema":1,"nonce":"a","op":"facts","deadline_s":-1})"), HasSubstr("deadline_s"));
  EXPECT_THAT(what(R"({"schema":1,"nonce":"a","op":"facts","only_steps":3})"), HasSubstr("type must be array"));
  EXPECT_FALSE(request_body("FABRICGATE-REQUEST 12x\nabc", false));
  EXPECT_FALSE(request_body("FABRICGATE-REQUEST 99999999999999\n", false));
}

TEST(AgentProtocol, BadAnswersAreErrors) {
  for (const char* text :
       {"[]", "{}", R"({"schema":1})", R"({"schema":1,"steps":[{"id":"x"}],"error":""})",
        R"({"schema":1,"steps":[{"id":"x","state":"maybe","commands":[],"findings":[],"error":""}],"error":""})",
        R"({"schema":1,"facts":7,"steps":[],"error":""})"})
    EXPECT_FALSE(answer_from_json(json::parse(text))) << text;
}

}  // namespace
}  // namespace fabricgate::bootstrap
