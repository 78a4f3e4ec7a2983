/// From the sample of pair.rdma to the classes of its two paths.
#include "fabric/verbs/verbs_sample.hpp"
#include "suites/checks/judging.hpp"
#include "suites/gate/extract.hpp"

namespace fabricgate::suites {
namespace {

fabric::PathClass classify(const fabric::VerbsSample& sample, double share, const Limit& limit) {
  if (!sample.failure.cause.empty()) return fabric::PathClass::unreachable;
  if (sample.rates.empty() || !within(share, 1e-12, *limit.high)) return fabric::PathClass::unmeasured;
  return share < *limit.low ? fabric::PathClass::bad : fabric::PathClass::good;
}

}  // namespace

void extract_pair_rdma(const GateInput& input, Exhibit& exhibit) {
  const auto sample = fabric::verbs_sample_from_json(exhibit.record.sample);
  if (!sample) return;
  exhibit.mode = sample->mode;
  PathFigures figures;
  if (!sample->latencies.empty()) figures.latency_s = sample->latencies[0].p50_s;
  const Limit* limit = input.limits.find("pair.rdma_share");
  const double rate = pair_rate(input.inventory, exhibit);
  for (const std::size_t i : {0, 1}) {
    if (!sample->rates.empty()) {
      const fabric::VerbsRate& measured = sample->rates[0];
      const fabric::VerbsFlow& flow = i == 0 ? measured.a_to_b : measured.b_to_a;
      figures.bytes_per_s[i] = flow.bytes_per_s;
      const double bytes = static_cast<double>(flow.messages) * static_cast<double>(measured.bytes);
      if (bytes > 0) figures.cpu_s_per_byte[i] = flow.cpu_s / bytes;
    }
    if (limit == nullptr || !limit->low || !limit->high || rate <= 0) continue;
    const double share = figures.bytes_per_s[i] / rate;
    fabric::PathResult path{
        .from = exhibit.nodes[i], .to = exhibit.nodes[1 - i], .rail = rail_index(input.inventory, exhibit.record.rail)};
    path.result = classify(*sample, share, *limit);
    path.mode = sample->mode;
    if (path.result != fabric::PathClass::unreachable && within(share, 0, 1e6)) path.share = static_cast<float>(share);
    exhibit.paths.push_back(path);
  }
  exhibit.figures = figures;
}

}  // namespace fabricgate::suites
