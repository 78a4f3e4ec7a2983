#include "launch/accept/coordinator.hpp"
#include "launch/accept/pair_plan.hpp"

namespace fabricgate::launch {
namespace {

/// Reading facts and links is quick; the figures are what a slow node may take before the estimate looks wrong.
constexpr double start_s = 1, host_s = 1.5, link_s = 0.5, collective_s = 6;

}  // namespace

double expected_seconds(const Setup& setup) {
  double seconds = start_s;
  for (Tier tier : setup.job.tiers) {
    if (tier == Tier::host) seconds += host_s;
    if (tier == Tier::link) seconds += link_s;
    if (tier == Tier::pair) seconds += pair_tier_seconds(setup.inventory, setup.job.hosts.size(), setup.job.options.budget_s, {});
    if (tier == Tier::collective) seconds += collective_s;
  }
  return seconds;
}

}  // namespace fabricgate::launch
