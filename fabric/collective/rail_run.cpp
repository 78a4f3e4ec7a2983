#include "fabric/collective/rail_run.hpp"

#include <algorithm>
#include <chrono>

#include "fabric/collective/algorithms.hpp"
#include "fabric/collective/elements.hpp"

namespace fabricgate::fabric {
namespace {

using Clock = std::chrono::steady_clock;

class RailRun {
 public:
  RailRun(Neighbours& neighbours, const CollectiveOrder& order, const RailShare& share)
      : neighbours_(neighbours), order_(order), share_(share), all_reduce_(neighbours), sums_(neighbours.size()) {
    std::size_t most = 0;
    for (const auto& step : order.steps) most = std::max(most, slice_end(step) - slice_start(step));
    data_ = floats(most);
    staging_ = floats(staging_elements(most, neighbours.size()));
  }

  RankReport run() {
    for (const auto& step : order_.steps) {
      report_.elapsed_s.emplace_back();
      for (int iteration = -order_.warmups; iteration < order_.iterations; ++iteration) {
        if (auto done = one(step, iteration); !done) {
          report_.error = done.error().what;
          return ended();
        }
      }
    }
    if (auto met = all_reduce_.barrier(); !met) report_.error = met.error().what;
    report_.moved = {all_reduce_.moved()};
    return ended();
  }

 private:
  RankReport ended() {
    report_.progress = neighbours_.progress();
    if (report_.error.empty()) return report_;
    report_.waited_for = neighbours_.waited_for();
    report_.rail = order_.rails[share_.rail].name;
    return report_;
  }

  /// First element of rail `index`: the rails before it take their share by weight, so that all end together.
  std::size_t start_of(const CollectiveStep& step, std::size_t index) const {
    const std::size_t count = step.bytes / sizeof(float);
    if (index >= rails()) return count;
    double before = 0, all = 0;
    for (std::size_t i = 0; i < rails(); ++i) {
      all += order_.rails[i].weight;
      if (i < index) before += order_.rails[i].weight;
    }
    return static_cast<std::size_t>(static_cast<double>(count) * before / all);
  }
  std::size_t slice_start(const CollectiveStep& step) const { return start_of(step, share_.rail); }
  std::size_t slice_end(const CollectiveStep& step) const { return start_of(step, share_.rail + 1); }
  std::size_t rails() const { return order_.rails.size(); }
  float* floats(std::size_t count) {
    return reinterpret_cast<float*>(neighbours_.memory(std::max<std::size_t>(1, count) * sizeof(float)));
  }

  Status one(const CollectiveStep& step, int iteration) {
    const auto first = slice_start(step);
    const Slice slice{.data = data_, .staging = staging_, .count = slice_end(step) - first};
    const int fresh = serial_++;  // other data in every iteration of every step
    fill_elements(slice.data, slice.count, first, share_.self, fresh);
    poison_elements(slice.staging, staging_elements(slice.count, neighbours_.size()));
    if (share_.hooks != nullptr && share_.hooks->before_iteration) {
      const auto& host = order_.hosts[static_cast<std::size_t>(share_.self)];
      if (auto allowed = share_.hooks->before_iteration(host, slice.data, slice.count, iteration); !allowed)
        return allowed;
    }
    if (auto met = all_reduce_.barrier(); !met) return met;
    const auto start = Clock::now();
    if (auto reduced = all_reduce_.run(step.algorithm, slice); !reduced) return reduced;
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (iteration >= 0) report_.elapsed_s.back().push_back(elapsed.count());
    const auto check = sums_.check(slice.data, slice.count, first, fresh);
    report_.elements_checked += slice.count;
    report_.elements_wrong += check.wrong;
    if (report_.first_wrong.empty()) report_.first_wrong = check.first_wrong;
    return {};
  }

  Neighbours& neighbours_;
  const CollectiveOrder& order_;
  const RailShare& share_;
  AllReduce all_reduce_;
  ElementSums sums_;
  float *data_ = nullptr, *staging_ = nullptr;
  int serial_ = 0;
  RankReport report_;
};

void take_slower(std::vector<std::vector<double>>& all, const std::vector<std::vector<double>>& more) {
  all.resize(std::min(all.size(), more.size()));
  for (std::size_t step = 0; step < all.size(); ++step) {
    all[step].resize(std::min(all[step].size(), more[step].size()));
    for (std::size_t index = 0; index < all[step].size(); ++index) {
      all[step][index] = std::max(all[step][index], more[step][index]);
    }
  }
}

}  // namespace

RankReport run_rail(Neighbours& neighbours, const CollectiveOrder& order, const RailShare& share) {
  return RailRun(neighbours, order, share).run();
}

RankReport merge_rails(const std::vector<RankReport>& rails) {
  RankReport merged = rails.front();
  for (std::size_t index = 1; index < rails.size(); ++index) {
    const auto& rail = rails[index];
    take_slower(merged.elapsed_s, rail.elapsed_s);
    merged.moved.insert(merged.moved.end(), rail.moved.begin(), rail.moved.end());
    merged.elements_checked += rail.elements_checked;
    merged.elements_wrong += rail.elements_wrong;
    if (merged.first_wrong.empty()) merged.first_wrong = rail.first_wrong;
    const bool earlier = merged.error.empty() || rail.progress < merged.progress;
    if (!rail.error.empty() && earlier) {
      merged.error = rail.error;
      merged.waited_for = rail.waited_for;
      merged.rail = rail.rail;
      merged.progress = rail.progress;
    }
  }
  return merged;
}

}  // namespace fabricgate::fabric
