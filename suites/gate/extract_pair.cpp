/// From the sample of a pair to the classes of its two paths.
#include <algorithm>

#include "suites/checks/judging.hpp"
#include "suites/gate/extract.hpp"

namespace fabricgate::suites {
namespace {

fabric::PathClass classify(const fabric::PairSample& sample, const fabric::DirectionSample& direction, double share, const Limit& limit) {
  if (!sample.error.empty()) return fabric::PathClass::unreachable;
  if (!direction.error.empty()) return direction.sweep.empty() ? fabric::PathClass::unreachable : fabric::PathClass::bad;
  if (direction.sweep.empty() || !within(share, 1e-12, *limit.high)) return fabric::PathClass::unmeasured;
  return share < *limit.low ? fabric::PathClass::bad : fabric::PathClass::good;
}

/// With both directions at once, where that is below the limit.
std::optional<BothRun> slow_with_both(const Limits& limits, const fabric::PairSample& sample) {
  const Limit* limit = limits.find("pair.both_share");
  for (const auto* direction : {&sample.a_to_b, &sample.b_to_a, &sample.a_to_b_both, &sample.b_to_a_both})
    if (limit == nullptr || !limit->low || direction->sweep.empty()) return {};
  const BothRun run = judge_both_run(*limit, sample);
  return run.low ? std::optional(run) : std::nullopt;
}

/// What nothing was lost for: after a loss TCP waits, and the path is a lossy one.
double longest_gap(const Limits& limits, const fabric::PairSample& sample) {
  const Limit* again = limits.find("pair.retransmit_share");
  double longest = 0;
  for (const auto* direction : {&sample.a_to_b, &sample.b_to_a, &sample.a_to_b_both, &sample.b_to_a_both})
    if (again != nullptr && again->high && !fabric::retransmitted(*direction, *again->high)) longest = std::max(longest, direction->longest_gap_s);
  return longest;
}

/// Makes a path that is good by its rate a bad one for what else was seen on it.
void add_troubles(const Limits& limits, const fabric::PairSample& sample, int direction, fabric::PathResult& path) {
  if (path.result != fabric::PathClass::good) return;
  const Limit* most = limits.find("pair.retransmit_share");
  if (most != nullptr && most->high)
    if (const auto lost = fabric::retransmitted(direction == 0 ? sample.a_to_b : sample.b_to_a, *most->high)) {
      path.result = fabric::PathClass::bad;
      path.loss = static_cast<float>(*lost);
      path.tentative = sample.mode == fabric::PairMode::together;
      return;
    }
  if (!sample.a_to_b_both.error.empty() || !sample.b_to_a_both.error.empty()) {
    path.result = fabric::PathClass::unreachable;  // it fell silent when both ran; what it carried before is not why
    path.share = -1;
  }
  if (const auto run = slow_with_both(limits, sample)) {
    path.result = fabric::PathClass::bad;
    path.both = run->silent_s <= 0;
    path.stall = static_cast<float>(run->silent_s);
    path.tentative = sample.mode == fabric::PairMode::together;
    path.share = static_cast<float>(run->share);
  }
}

void note_flows(const Limits& limits, const fabric::FlowCount& count, fabric::PathResult& path) {
  if (count.dialled == 0) return;
  const auto note = [](double value, float& most) { most = std::max(most, static_cast<float>(value)); };
  const auto share = [&](std::uint64_t connections) { return static_cast<double>(connections) / static_cast<double>(count.dialled); };
  if (count.lost()) note(share(count.dialled - count.answered), path.flows_lost);
  note(share(count.blocked), path.flows_blocked);
  note(too_many_late(limits, count).value_or(0), path.flows_late);
  note(too_slow(limits, count).value_or(0), path.flow_slow);
}

/// What the many short connections showed stands before what was streamed. Which way of a lost one's packets is at fault
/// cannot be told, so both are bad; where one end's were all in vain nothing was streamed.
void add_flows(const GateInput& input, const fabric::PairSample& sample, Exhibit& exhibit) {
  const Inventory& inventory = input.inventory;
  const fabric::FlowCount* flows[] = {&sample.flows_a_to_b, &sample.flows_b_to_a};
  const auto rail_of = [&](int node) { return declared_rail(&inventory.nodes[static_cast<std::size_t>(node)], exhibit.record.rail); };
  const Rail *a = rail_of(exhibit.nodes[0]), *b = rail_of(exhibit.nodes[1]);
  const bool in_vain = flows[0]->dead() || flows[1]->dead();
  for (std::size_t i = 0; i < exhibit.paths.size() && a != nullptr && b != nullptr; ++i) {
    fabric::PathResult& path = exhibit.paths[i];
    for (const fabric::FlowCount* count : flows)
      if (!in_vain) note_flows(input.limits, *count, path);
    path.deaf = flows[i]->dead() && !flows[1 - i]->dead();
    if (path.flows_lost > 0 || path.flows_blocked > 0) {
      path.result = fabric::PathClass::bad;
    } else if (path.result == fabric::PathClass::good && (path.flows_late > 0 || path.flow_slow > 0)) {
      path.result = fabric::PathClass::bad;
      path.tentative = sample.mode == fabric::PairMode::together;
    }
    if (in_vain && sample.error.empty()) path.result = flows[i]->dead() ? fabric::PathClass::unreachable : fabric::PathClass::unmeasured;
    if (in_vain || flows[i]->answered == 0 || flows[i]->segment_bytes >= least_segment(*a, *b)) continue;
    path.segment = static_cast<int>(flows[i]->segment_bytes);
    if (path.result != fabric::PathClass::unreachable) path.result = fabric::PathClass::bad;
  }
}

/// What an unbroken measurement moved, by either end.
void note_moved(const fabric::PairSample& sample, int rail, Exhibit& exhibit) {
  Moved a{.node = exhibit.nodes[0], .peer = exhibit.nodes[1], .rail = rail}, b{.node = a.peer, .peer = a.node, .rail = rail};
  const auto add = [](const fabric::DirectionSample& direction, Moved& from, Moved& to) {
    if (!direction.error.empty()) return;
    from.sent_bytes += static_cast<double>(direction.sent_bytes);
    to.received_bytes += static_cast<double>(direction.received_bytes);
  };
  add(sample.a_to_b, a, b);
  add(sample.a_to_b_both, a, b);
  add(sample.b_to_a, b, a);
  add(sample.b_to_a_both, b, a);
  if (sample.error.empty()) exhibit.moved = {a, b};
}

}  // namespace

double pair_rate(const Inventory& inventory, const Exhibit& exhibit) {
  double rate = 0;
  for (const int node : exhibit.nodes) {
    const Rail* rail = declared_rail(&inventory.nodes[static_cast<std::size_t>(node)], exhibit.record.rail);
    if (rail == nullptr) return 0;
    rate = rate == 0 ? rail->rate_bits_per_s / 8 : std::min(rate, rail->rate_bits_per_s / 8);
  }
  return rate;
}

void extract_pair(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::pair_sample_from_json(exhibit.record.sample);
  if (!sample) return;
  exhibit.mode = sample->mode;
  if (exhibit.record.check == "pair.rail") note_moved(*sample, rail_index(input.inventory, exhibit.record.rail), exhibit);
  if (exhibit.record.check == "pair.rail") exhibit.longest_gap_s = longest_gap(input.limits, *sample);
  PathFigures figures;
  figures.latency_s = sample->latency_p50_s;
  const Limit* limit = input.limits.find("pair.bandwidth_share");
  const double rate = pair_rate(input.inventory, exhibit);
  for (int i : {0, 1}) {
    const fabric::DirectionSample& direction = i == 0 ? sample->a_to_b : sample->b_to_a;
    const auto at = static_cast<std::size_t>(i);
    if (!direction.sweep.empty()) figures.bytes_per_s[at] = direction.sweep.back().bytes_per_s;
    figures.cpu_s_per_byte[at] = direction.sent_cpu_s_per_byte + direction.received_cpu_s_per_byte;
    if (exhibit.record.check != "pair.rail" || limit == nullptr || !limit->low || !limit->high || rate <= 0) continue;
    const double share = figures.bytes_per_s[static_cast<std::size_t>(i)] / rate;
    fabric::PathResult path{.from = exhibit.nodes[static_cast<std::size_t>(i)], .to = exhibit.nodes[static_cast<std::size_t>(1 - i)],
                            .rail = rail_index(input.inventory, exhibit.record.rail)};
    path.result = classify(*sample, direction, share, *limit);
    path.mode = sample->mode;
    path.share = within(share, 0, 1e6) ? static_cast<float>(share) : -1;
    add_troubles(input.limits, *sample, i, path);
    exhibit.paths.push_back(path);
  }
  add_flows(input, *sample, exhibit);
  exhibit.figures = figures;
}

}  // namespace fabricgate::suites
