#include <algorithm>

#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

struct Figures {
  std::vector<double> rates, latencies, costs;
};

void note(const PathFigures& seen, Figures& figures) {
  for (const double rate : seen.bytes_per_s)
    if (rate > 0) figures.rates.push_back(rate);
  for (const double cost : seen.cpu_s_per_byte)
    if (cost > 0) figures.costs.push_back(cost);
  if (seen.latency_s > 0) figures.latencies.push_back(seen.latency_s);
}

}  // namespace

void summarise_paths(Fold& fold) {
  std::map<std::pair<std::string, bool>, Figures> by_path;  // rail, over RDMA
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.figures && exhibit.record.attempt == 0)
      note(*exhibit.figures, by_path[{exhibit.record.rail, exhibit.record.check == "pair.rdma"}]);
  std::vector<std::string> order = rail_names(fold.input.inventory);
  order.insert(order.begin(), "");
  for (const std::string& rail : order)
    for (const bool rdma : {false, true}) {
      const auto found = by_path.find({rail, rdma});
      if (found == by_path.end()) continue;
      auto& [rates, latencies, costs] = found->second;
      PathSummary summary{.rail = rail, .rdma = rdma, .pairs = latencies.size()};
      summary.bytes_per_s_median = median(rates);
      summary.bytes_per_s_min = rates.empty() ? 0 : *std::min_element(rates.begin(), rates.end());
      summary.latency_s_median = median(latencies);
      summary.latency_s_max = latencies.empty() ? 0 : *std::max_element(latencies.begin(), latencies.end());
      summary.cpu_s_per_byte_median = median(costs);
      fold.result.paths.push_back(summary);
    }
}

}  // namespace fabricgate::suites
