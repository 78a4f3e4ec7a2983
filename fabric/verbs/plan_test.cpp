#include "fabric/verbs/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

VerbsPlan good() {
  return {.steps = {{.bytes = 4096, .messages = 100}}};
}

TEST(VerbsPlan, AGoodOneIsTaken) {
  EXPECT_TRUE(check_plan(good()));
}

TEST(VerbsPlan, WhatDoesNotFitIsNamed) {
  const auto refused = [](auto change, const std::string& named) {
    auto plan = good();
    change(plan);
    const auto checked = check_plan(plan);
    EXPECT_FALSE(checked) << named;
    EXPECT_THAT(checked.error().what, HasSubstr(named));
  };
  refused([](auto& plan) { plan.steps.clear(); }, "no steps");
  refused([](auto& plan) { plan.qps = 0; }, "0 queue pairs");
  refused([](auto& plan) { plan.depth = 1; }, "depth 1");
  refused([](auto& plan) { plan.post_list = 129; }, "lists of 129");
  refused([](auto& plan) { plan.moderation = 129; }, "for 129 messages");
  refused([](auto& plan) { plan.timeout = 32; }, "timeout 32");
  refused([](auto& plan) { plan.retries = 8; }, "8 retries");
  refused([](auto& plan) { plan.cycle_bytes = 8; }, "memory of 8 bytes");
  refused([](auto& plan) { plan.steps[0].bytes = 0; }, "messages of 0 bytes");
  refused([](auto& plan) { plan.steps[0].a_to_b = plan.steps[0].b_to_a = false; }, "neither way");
  refused([](auto& plan) { plan.steps[0].messages = 0; }, "neither messages nor seconds");
  refused([](auto& plan) { plan.steps[0].margin_messages = 50; }, "margins of 50");
  refused([](auto& plan) { plan.steps[0].latency = true, plan.steps[0].operation = Operation::read; },
          "latency of read");
}

TEST(VerbsPlan, NoTwoMessagesShareMemory) {
  VerbsPlan plan{.steps = {{.bytes = 2, .messages = 1}, {.bytes = 100, .messages = 1}, {.bytes = 10000, .messages = 1}},
                 .qps = 3};
  for (const auto& step : plan.steps) {
    const Layout layout = layout_of(plan, step);
    EXPECT_GE(layout.stride, step.bytes);
    EXPECT_EQ(layout.slots & (layout.slots - 1), 0u);
    EXPECT_LE(layout.slots * layout.stride, layout.area);
    EXPECT_GE(layout.rx(0, 0), layout.tx(0, layout.slots - 1) + layout.stride);
    EXPECT_GE(layout.tx(1, 0), layout.rx(0, layout.slots - 1) + layout.stride);
    EXPECT_LE(layout.rx(2, layout.slots - 1) + layout.stride, memory_bytes(plan));
  }
}

}  // namespace
}  // namespace fabricgate::fabric
