// Tiers in which every node looks at itself: one order, one answer.
#include <algorithm>
#include <chrono>
#include <thread>

#include "launch/accept/coordinator.hpp"
#include "results/clock.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::launch {
namespace {

constexpr double facts_s = 30, link_s = 20, settle_s = 2;

std::vector<std::optional<Reply>> ask_all(Coordinator& c, const char* tier, const char* kind, nlohmann::json body, double seconds) {
  const int total = static_cast<int>(c.hosts().size());
  c.show({.tier = tier, .done = 0, .total = total});
  auto replies = c.ask(kind, std::move(body), seconds);
  int done = 0;
  for (const auto& reply : replies)
    if (reply && !reply->lines.empty()) ++done;
  c.show({.tier = tier, .done = std::min(done, total), .total = total});
  return replies;
}

/// A node somebody uses is only looked at, never measured.
void drop_busy(Coordinator& c, const std::vector<std::optional<Reply>>& replies) {
  if (c.setup().job.options.allow_busy) return;
  const std::vector<std::string> hosts = c.hosts();
  for (const std::string& host : hosts) {
    const auto rank = static_cast<std::size_t>(c.rank_of(host));
    if (rank >= replies.size() || !replies[rank] || !replies[rank]->data.is_object()) continue;
    const auto busy = replies[rank]->data.value("busy", std::vector<std::string>{});
    std::string why;
    for (const std::string& reason : busy) why += (why.empty() ? "" : "; ") + reason;
    if (!why.empty()) refuse_busy(c, Tier::host, host, why);
  }
}

/// Some drivers fetch the counters from the adapter once a second (bnxt_en: stats-block-usecs), and would leave out the last
/// of what was measured. Interfaces made by software count at once.
void let_counters_settle(const Coordinator& c) {
  if (c.setup().inventory.emulated()) return;
  double last = 0;
  for (const Record& record : c.records())
    if (record.tier == Tier::pair || record.tier == Tier::collective) last = std::max(last, record.started_unix_s + record.elapsed_s);
  const double left = std::min(settle_s, last + settle_s - unix_now_s());
  if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
}

}  // namespace

void run_host_tier(Coordinator& c) {
  const auto& tiers = c.setup().job.tiers;
  if (std::find(tiers.begin(), tiers.end(), Tier::stage) == tiers.end()) ask_busy_hook_here(c, Tier::host);
  const double started = unix_now_s();
  const auto replies = ask_all(c, "host", "facts", {{"clock_unix_s", started}}, facts_s);
  std::vector<const Record*> facts;
  std::vector<std::string> hosts;
  for (const Record& record : c.records())
    if (record.check == "host.facts" && !record.sample.is_null()) {  // a host that left before has none
      facts.push_back(&record);
      hosts.push_back(record.hosts[0]);
    }
  if (hosts.empty() || c.over()) return;
  c.add({.check = "host.fleet",
         .hosts = hosts,
         .sample = suites::fleet_sample(facts),
         .started_unix_s = started,
         .elapsed_s = unix_now_s() - started});
  drop_busy(c, replies);
}

void run_link_tier(Coordinator& c) { ask_all(c, "link", "link", nullptr, link_s); }

void run_counters(Coordinator& c) {
  let_counters_settle(c);
  ask_all(c, "counters", "counters", nullptr, link_s);
}

}  // namespace fabricgate::launch
