#pragma once
/// The pair tier as data: who measures what with whom. Pure, so that it can be tested without a rank.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fabric/pairs/schedule.hpp"
#include "fabric/round/order.hpp"
#include "inventory/inventory.hpp"
#include "launch/job.hpp"

namespace fabricgate::launch {

/// What one round is given.
struct PairTiming {
  double seconds = 1, both_seconds = 0.4, overlay_seconds = 0.4;
  std::uint64_t rdma_round_trips = 1000;
};

/// Round trips of soft RDMA take a thousand times as long, and a processor each.
PairTiming timing_of(const Inventory& inventory);

/// Rounds over `hosts` (indices into it), all pairs or as many as the budget allows.
fabric::Schedule plan_pairs(const Inventory& inventory, const std::vector<std::string>& hosts, double budget_s, const PairTiming& timing);

/// The budget when it leaves pairs of the whole cluster unplanned, else 0.
double short_budget_s(const Inventory& inventory, double budget_s);

/// One pair's rails that both ends have, without those in `skip` (rail names).
fabric::PairTask pair_task(const Inventory& inventory, const std::string& a, const std::string& b, const std::set<std::string>& skip);

/// "pair.rail a,b rail" as subject_key writes it.
std::string pair_key(const std::string& check, const std::string& a, const std::string& b, const std::string& rail);

/// Seconds the whole pair tier takes when nothing is wrong.
double pair_tier_seconds(const Inventory& inventory, std::size_t hosts, double budget_s, const PairTiming& timing);

}  // namespace fabricgate::launch
