// AllReduce over all nodes that are still in. When it is slow although the pairs were good it is measured twice more;
// when it is slow again, halves are measured to find the group that holds it back. When it did not end, the rails that
// went dark since the pair tier are looked for, and the nodes without one are measured.
#include <algorithm>
#include <cmath>

#include "fabric/collective/collective_sample.hpp"
#include "fabric/collective/order.hpp"
#include "inventory/desired/desired.hpp"
#include "launch/accept/carried_rate.hpp"
#include "launch/accept/coordinator.hpp"
#include "launch/accept/dark_rails.hpp"
#include "launch/accept/slow_group.hpp"
#include "launch/gate/report.hpp"
#include "results/clock.hpp"

namespace fabricgate::launch {
namespace {

/// Rails every one of the hosts has, in the order of the first.
std::vector<fabric::CollectiveRail> shared_rails(const Inventory& inventory, const Hosts& hosts) {
  std::vector<Desired> wants;
  for (const std::string& host : hosts) wants.push_back(desired(inventory, *inventory.find(host)));
  std::vector<fabric::CollectiveRail> out;
  for (const DesiredRail& rail : wants[0].rails) {
    fabric::CollectiveRail shared{.name = rail.name, .netdevs = {}};
    for (const Desired& want : wants)
      for (const DesiredRail& other : want.rails)
        if (other.name == rail.name) {
          shared.netdevs.push_back(other.netdev);
          shared.weight =
              shared.netdevs.size() == 1 ? other.rate_bits_per_s : std::min(shared.weight, other.rate_bits_per_s);
        }
    if (shared.netdevs.size() == hosts.size()) out.push_back(std::move(shared));
  }
  return out;
}

/// About a quarter of a second of what a node carries, so that start-up costs do not count: 16 to 256 MiB.
std::uint64_t judged_size(double bytes_per_s) {
  const double mebibytes = std::clamp(std::round(bytes_per_s / 4 / (1 << 20)), 16.0, 256.0);
  return static_cast<std::uint64_t>(mebibytes) << 20;
}

constexpr double reach_s = 20;

class CollectiveTier {
 public:
  explicit CollectiveTier(Coordinator& c) : c_(c) {
    const Setup& setup = c.setup();
    const suites::GateInput input{
        .inventory = setup.inventory, .suite = setup.suite, .limits = setup.limits, .identity = setup.job.identity};
    before_ = suites::read_exhibits(input, {{"records", c.record_lines()}}).records;
  }

  void run() {
    const Hosts all = c_.hosts();
    c_.show({.tier = "collective", .done = 0, .total = 1});
    const bool failed = measure(all) == Verdict::fail;
    const Hosts rest = failed ? without_dark_rails(all) : all;
    const bool dark = rest.size() < all.size();
    if (dark && rest.size() >= 2 && !c_.over()) measure(rest);
    const bool slow = failed && !dark && !good_twice(all);
    c_.show({.tier = "collective", .done = 1, .total = 1});
    if (slow) slow_group(all, [this](const Hosts& group) { return !c_.over() && measure(group) == Verdict::fail; });
  }

 private:
  Verdict measure(const Hosts& hosts) {
    fabric::CollectiveOrder order{.ranks = {}, .hosts = hosts, .rails = shared_rails(c_.setup().inventory, hosts)};
    for (const std::string& host : hosts) order.ranks.push_back(c_.rank_of(host));
    // By what the pairs measured: a rate declared too high must not leave healthy nodes too little time.
    const double rate = carried_bytes_per_s(c_.setup().inventory, hosts, before_);
    order.steps.back().bytes = judged_size(rate);
    const double expected = fabric::expected_seconds(order, rate);
    order.deadline_s = 4 * expected + 2 * order.connect_s;
    const double started = unix_now_s();
    const auto replies = c_.ask("collective", to_json_value(order), order.deadline_s + 10);
    if (replies.empty() || !replies[0] || c_.over()) return Verdict::inconclusive;
    c_.add({.check = "collective.allreduce",
            .hosts = hosts,
            .attempt = attempt_++,
            .sample = replies[0]->data,
            .started_unix_s = started,
            .elapsed_s = unix_now_s() - started});
    return c_.records().back().verdict;
  }

  /// A collective that did not end: a rail that was good in the pair tier may be dark by now. Its node gets a
  /// statement.
  Hosts without_dark_rails(const Hosts& hosts) {
    const auto& findings = c_.records().back().findings;
    const bool ended = std::none_of(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.cause == "collective.failed"; });
    if (ended || c_.over()) return hosts;
    std::vector<fabric::ReachAnswer> answers;
    for (const auto& reply : c_.ask("reach", {{"pairs", dark_rail_questions(hosts)}}, reach_s)) {
      const auto sample = reply && reply->data.is_object() ? fabric::reach_sample_from_json(reply->data)
                                                           : Result<fabric::ReachSample>(Error{});
      if (sample) answers.insert(answers.end(), sample->answers.begin(), sample->answers.end());
    }
    Hosts rest = hosts;
    for (const Finding& finding : dark_rails(hosts, answers)) {
      c_.keep(statement(c_.setup(), Tier::collective, finding.subject.host, finding, 1));
      std::erase(rest, finding.subject.host);
    }
    return rest;
  }

  bool good_twice(const Hosts& hosts) {
    for (int i = 0; i < 2; ++i)
      if (c_.over() || !opens_gate(measure(hosts))) return false;
    return true;
  }

  Coordinator& c_;
  std::vector<suites::Exhibit> before_;  ///< what the tiers before found
  int attempt_ = 0;
};

}  // namespace

void run_collective_tier(Coordinator& c) {
  if (c.hosts().size() >= 2) CollectiveTier(c).run();
}

}  // namespace fabricgate::launch
