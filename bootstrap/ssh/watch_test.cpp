/// Ending all sessions early: Watch::stop of pool.hpp.
#include <gmock/gmock.h>

#include "bootstrap/ssh/pool.hpp"
#include "bootstrap/ssh/sshd_fixture.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

class PoolWatch : public SshdTest {};

TEST_F(PoolWatch, StopEndsWhatRunsAndBeginsNoFurtherNode) {
  inventory.ssh.window = 1;
  inventory.nodes.resize(3, inventory.nodes[0]);
  bool began = false;
  const auto talk = [&](const CommandResult*) -> std::optional<Command> {
    began = true;
    return Command{.argv = {"sleep", "600"}, .timeout_s = 600};
  };
  const auto outcomes = converse(inventory, {{0, talk}, {1, talk}, {2, talk}}, Deadline::in_seconds(600),
                                 {.stop = [&] { return began; }});
  ASSERT_TRUE(outcomes);
  for (const auto& outcome : *outcomes) {
    EXPECT_TRUE(outcome.interrupted) << outcome.node;
    EXPECT_FALSE(outcome.finding) << outcome.node;
    ASSERT_FALSE(outcome.status);
    EXPECT_THAT(outcome.status.error().what, HasSubstr("interrupted"));
  }
  EXPECT_GT((*outcomes)[0].connect_s, 0);
  EXPECT_EQ((*outcomes)[1].connect_s, 0);
}

TEST_F(PoolWatch, CommandWhoseInputIsHeldHearsOfTheStopAndItsConversationTidiesUp) {
  bool began = false;  // the first output was heard
  std::vector<std::string> said;
  std::string heard;
  const auto talk = [&](const CommandResult* previous) -> std::optional<Command> {
    if (previous != nullptr) said.push_back(previous->out);
    if (said.size() == 2) return std::nullopt;
    if (said.size() == 1) return Command{.argv = {"echo", "tidied"}};
    return Command{.argv = {"/bin/sh", "-c", "echo first; cat; echo end of input"},
                   .sink =
                       [&](std::string_view text) {
                         heard += text;
                         began = true;
                         return Status{};
                       },
                   .hold_input = true};
  };
  const auto outcomes = converse(inventory, {{0, talk}}, Deadline::in_seconds(60), {.stop = [&] { return began; }});
  ASSERT_TRUE(outcomes);
  EXPECT_TRUE((*outcomes)[0].status) << (*outcomes)[0].status.error().what;
  EXPECT_EQ(heard, "first\nend of input\n");
  EXPECT_THAT(said, testing::ElementsAre("", "tidied\n"));
}

TEST_F(PoolWatch, ForWhomItWaitsAndAtWhatIsSaid) {
  inventory.nodes.resize(2, inventory.nodes[0]);
  inventory.nodes[1].name = "beta";
  const Listener silent;  // accepts and says nothing
  const auto talk = [](const CommandResult* previous) -> std::optional<Command> {
    if (previous != nullptr) return std::nullopt;
    return Command{.argv = {"sleep", "1.5"}, .doing = "running the slow one"};
  };
  testing::internal::CaptureStderr();
  const auto outcomes = converse(inventory, {{0, talk}, {1, talk}}, Deadline::in_seconds(60), {.patience_s = 0.5});
  const std::string slow = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(outcomes && (*outcomes)[0].status);
  EXPECT_THAT(slow, HasSubstr("of alpha,beta (running the slow one)"));
  inventory.ssh.port = silent.port;
  inventory.ssh.connect_timeout_s = 1;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(converse(inventory, {{0, talk}}, Deadline::in_seconds(60), {.patience_s = 0.3}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("of alpha (logging in)"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
