#include <algorithm>

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

/// A faulty path makes each of its rounds take twice as long, and is met again in repetitions, alone and with all others.
double job_deadline_s(const Inventory& inventory, const Job& job) {
  if (job.deadline_s > 0) return job.deadline_s;
  const bool pairs = std::find(job.tiers.begin(), job.tiers.end(), Tier::pair) != job.tiers.end();
  return (pairs ? 6 : 3) * expected_seconds(inventory, job) + (pairs ? 120 : 60);
}

}  // namespace fabricgate::launch
