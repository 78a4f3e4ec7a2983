#include "launch/accept/coordinator.hpp"
#include "launch/accept/pair_plan.hpp"

namespace fabricgate::launch {
namespace {

/// Reading facts and links is quick; the figures are what a slow node may take before the estimate looks wrong.
constexpr double start_s = 1, stage_s = 4, host_s = 1.5, link_s = 0.5, collective_s = 6;

}  // namespace

double expected_seconds(const Inventory& inventory, const Job& job) {
  double seconds = start_s;
  for (Tier tier : job.tiers) {
    if (tier == Tier::stage) seconds += stage_s;
    if (tier == Tier::host) seconds += host_s;
    if (tier == Tier::link) seconds += link_s;
    if (tier == Tier::pair) seconds += pair_tier_seconds(inventory, job.hosts.size(), job.options.budget_s, {});
    if (tier == Tier::collective) seconds += collective_s;
  }
  return seconds;
}

double job_deadline_s(const Inventory& inventory, const Job& job) {
  return job.deadline_s > 0 ? job.deadline_s : 3 * expected_seconds(inventory, job) + 60;
}

}  // namespace fabricgate::launch
