// Tiers in which every node looks at itself: one order, one answer.
#include "launch/accept/coordinator.hpp"
#include "results/clock.hpp"
#include "suites/fleet.hpp"

namespace fabricgate::launch {
namespace {

constexpr double facts_s = 30, link_s = 20;

void ask_all(Coordinator& c, const char* tier, const char* kind, nlohmann::json body, double seconds) {
  const int total = static_cast<int>(c.hosts().size());
  c.show({.tier = tier, .done = 0, .total = total});
  const auto replies = c.ask(kind, std::move(body), seconds);
  int done = 0;
  for (const auto& reply : replies)
    if (reply && !reply->lines.empty()) ++done;
  c.show({.tier = tier, .done = std::min(done, total), .total = total});
}

}  // namespace

void run_host_tier(Coordinator& c) {
  const double started = unix_now_s();
  ask_all(c, "host", "facts", {{"clock_unix_s", started}}, facts_s);
  std::vector<const Record*> facts;
  std::vector<std::string> hosts;
  for (const Record& record : c.records())
    if (record.check == "host.facts") {
      facts.push_back(&record);
      hosts.push_back(record.hosts[0]);
    }
  if (hosts.empty() || c.over()) return;
  c.add({.check = "host.fleet",
         .hosts = hosts,
         .sample = suites::fleet_sample(facts),
         .started_unix_s = started,
         .elapsed_s = unix_now_s() - started});
}

void run_link_tier(Coordinator& c) { ask_all(c, "link", "link", nullptr, link_s); }

void run_counters(Coordinator& c) { ask_all(c, "counters", "counters", nullptr, link_s); }

}  // namespace fabricgate::launch
