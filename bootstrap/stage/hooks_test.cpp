#include "bootstrap/stage/hooks.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::HasSubstr;

Inventory with_hook(const std::string& line, const std::vector<std::string>& names = {"alpha", "beta"}) {
  Inventory inventory;
  for (const auto& name : names) {
    Node node;
    node.name = name;
    inventory.nodes.push_back(node);
  }
  if (!line.empty()) inventory.hooks["busy"] = line;
  return inventory;
}

std::vector<std::optional<std::string>> ask(const std::string& line, double seconds = 20) {
  return ask_busy_hook(with_hook(line), {0, 1}, Deadline::in_seconds(seconds));
}

TEST(BusyHook, WithoutOneEveryNodeIsFree) {
  for (const auto& busy : ask("")) EXPECT_FALSE(busy);
}

TEST(BusyHook, ExitCodesOfEachNodeTellFreeFromBusy) {
  const auto busy = ask("test {node} = alpha");
  EXPECT_FALSE(busy[0]);
  ASSERT_TRUE(busy[1]);
  EXPECT_THAT(*busy[1], HasSubstr("is busy"));
}

TEST(BusyHook, HookThatFailsCountsAsBusy) {
  EXPECT_THAT(*ask("exit 3")[0], HasSubstr("exit code 3"));
  EXPECT_THAT(*ask("/nonexistent/hook {node}")[0], HasSubstr("exit code 127"));
  EXPECT_THAT(*ask("kill -9 $$")[0], HasSubstr("signal 9"));
}

TEST(BusyHook, WhatItSaidLastIsTheReasonInBoundedLength) {
  EXPECT_THAT(*ask("echo asking >&2; echo job 17 of alice; exit 1")[0], testing::EndsWith("is busy: job 17 of alice"));
  EXPECT_THAT(*ask("head -c 3000000 /dev/zero; exit 1")[0], testing::EndsWith("is busy: " + std::string(200, '?')));
  EXPECT_THAT(*ask("yes", 1)[0], testing::EndsWith("counts as busy: y"));
}

TEST(BusyHook, HookThatHangsCountsAsBusy) {
  for (const auto& busy : ask("sleep 300", 0.2)) EXPECT_THAT(*busy, HasSubstr("did not end in time"));
}

TEST(BusyHook, StopKillsWhatRunsAndAsksNoFurther) {
  const std::string file = testing::TempDir() + "hook-" + std::to_string(::getpid());
  const auto hook = "echo $$ > " + file + ".{node}; sleep 600";
  const auto began = [&] {
    return std::filesystem::exists(file + ".alpha") && std::filesystem::exists(file + ".beta");
  };
  (void)ask_busy_hook(with_hook(hook), {0, 1}, Deadline::in_seconds(600), began);
  for (const char* node : {".alpha", ".beta"}) {
    const int pid = std::atoi(read_file(file + node)->c_str());
    EXPECT_TRUE(pid <= 0 || ::kill(pid, 0) != 0) << pid;
    std::filesystem::remove(file + node);
  }
}

TEST(BusyHook, MoreNodesThanRunAtOnceAreAllAsked) {
  const Inventory inventory = with_hook("test {node} != n13", std::vector<std::string>(20, "n1"));
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < 20; ++i) nodes.push_back(i);
  Inventory named = inventory;
  for (std::size_t i = 0; i < 20; ++i) named.nodes[i].name = "n" + std::to_string(i);
  const auto busy = ask_busy_hook(named, nodes, Deadline::in_seconds(20));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(busy[i].has_value(), i == 13) << i;
}

std::map<std::size_t, std::string> drain(const std::string& line, double seconds = 20) {
  Inventory inventory = with_hook("");
  if (!line.empty()) inventory.hooks["drain"] = line;
  return run_drain_hook(inventory, {0, 1}, Deadline::in_seconds(seconds));
}

TEST(DrainHook, OnlyExitCodeZeroIsADrainedNode) {
  EXPECT_THAT(drain(""), testing::IsEmpty());
  const auto some = drain("echo pods stay; test {node} = alpha");
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some.at(1), "hooks.drain could not drain the node: pods stay");
  EXPECT_EQ(drain("exit 3").at(0), "hooks.drain failed (exit code 3), so the node is not rebooted");
  EXPECT_THAT(drain("sleep 300", 0.2).at(0), HasSubstr("did not end in time, so the node is not rebooted"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
