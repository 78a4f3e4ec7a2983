#pragma once
/// What the tests of all steps share: run one step as the agent does, and check the laws every step obeys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/steps/all.hpp"
#include "inventory/host/fake_host.hpp"

namespace fabricgate::bootstrap::testing {

inline std::vector<std::string> commands(const StepPlan& plan) {
  std::vector<std::string> out;
  for (const Action& action : plan.actions) out.push_back(action.command);
  return out;
}

inline StepContext context_of(const Desired& desired, Host& host) {
  return {.desired = desired, .host = host, .deadline = Deadline::in_seconds(60), .settle_s = 0};
}

inline StepPlan plan_of(const Step& step, const Desired& desired, Host& host) {
  StepContext context = context_of(desired, host);
  auto observed = step.observe(context);
  if (!observed) {
    ADD_FAILURE() << observed.error().what;
    return {};
  }
  return step.plan(desired, *observed);
}

/// observe, apply; the findings of apply are added to `findings` when given.
inline Status apply_of(const Step& step, const Desired& desired, Host& host, std::vector<Finding>* findings = nullptr) {
  StepContext context = context_of(desired, host);
  auto observed = step.observe(context);
  if (!observed) return observed.error();
  Status status = step.apply(context, *observed);
  if (findings) *findings = context.findings;
  return status;
}

/// Stops the machine after each possible number of changes; a second run must always reach the goal.
template <class MakeHost>
void expect_converges_from_any_interruption(const Step& step, const Desired& desired, MakeHost make_host) {
  bool finished = false;
  for (int allowed = 0; allowed < 200 && !finished; ++allowed) {
    auto host = make_host();
    host->changes_left = allowed;
    finished = static_cast<bool>(apply_of(step, desired, *host));
    host->changes_left = -1;
    auto again = apply_of(step, desired, *host);
    ASSERT_TRUE(again) << "after " << allowed << " changes: " << again.error().what;
    EXPECT_THAT(commands(plan_of(step, desired, *host)), ::testing::IsEmpty()) << "after " << allowed << " changes";
  }
  EXPECT_TRUE(finished);
}

}  // namespace fabricgate::bootstrap::testing
