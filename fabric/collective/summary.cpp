#include "fabric/collective/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fabric/collective/busbw.hpp"
#include "results/json_text.hpp"

namespace fabricgate::fabric {
namespace {

using Reports = std::vector<std::optional<RankReport>>;

/// Mean per iteration of one step by rank; empty unless every rank finished it.
std::vector<double> means(const Reports& reports, std::size_t step, int iterations) {
  std::vector<double> by_rank;
  for (const auto& report : reports) {
    if (!report || report->elapsed_s.size() <= step) return {};
    const auto& times = report->elapsed_s[step];
    if (times.size() != static_cast<std::size_t>(iterations)) return {};
    by_rank.push_back(std::accumulate(times.begin(), times.end(), 0.0) / iterations);
  }
  return by_rank;
}

void add_points(const CollectiveOrder& order, const Reports& reports, CollectiveSample& sample) {
  for (std::size_t step = 0; step < order.steps.size(); ++step) {
    const auto by_rank = means(reports, step, order.iterations);
    if (by_rank.empty()) return;
    const double slowest = *std::max_element(by_rank.begin(), by_rank.end());
    const auto bytes = order.steps[step].bytes;
    sample.points.push_back({.bytes = bytes,
                             .algorithm = to_string(order.steps[step].algorithm),
                             .iterations = order.iterations,
                             .elapsed_s = slowest,
                             .busbw_bytes_per_s = all_reduce_busbw(bytes, slowest, sample.ranks)});
    sample.rank_elapsed_s = by_rank;
  }
}

void add_moved(const CollectiveOrder& order, std::size_t participant, const RankReport& report, CollectiveSample& sample) {
  for (std::size_t rail = 0; rail < std::min(report.moved.size(), order.rails.size()); ++rail)
    sample.moved.push_back({.host = order.hosts[participant],
                            .rail = order.rails[rail].name,
                            .sent_bytes = report.moved[rail].sent,
                            .received_bytes = report.moved[rail].received});
}

void add_error(const CollectiveOrder& order, const Reports& reports, CollectiveSample& sample) {
  const RankReport* first = nullptr;
  std::string host;
  for (std::size_t index = 0; index < reports.size(); ++index) {
    const auto& report = reports[index];
    if (!report || report->error.empty() || (first != nullptr && first->progress <= report->progress)) continue;
    first = &*report;
    host = order.hosts[index];
  }
  if (!sample.missing.empty()) sample.error = fmt::format("{} did not report", fmt::join(sample.missing, ", "));
  if (first == nullptr) return;
  sample.error += fmt::format("{}{}: {}", sample.error.empty() ? "" : "; ", host, first->error);
  sample.failed = {.host = host, .peer = first->waited_for, .rail = first->rail};
}

}  // namespace

static void to_json(nlohmann::json& value, const RailBytes& bytes) { value = {{"sent", bytes.sent}, {"received", bytes.received}}; }
static void from_json(const nlohmann::json& value, RailBytes& bytes) { bytes = {count_from(value, "sent"), count_from(value, "received")}; }

nlohmann::json to_json_value(const RankReport& report) {
  return {{"elapsed_s", report.elapsed_s},
          {"elements_checked", report.elements_checked},
          {"elements_wrong", report.elements_wrong},
          {"first_wrong", report.first_wrong},
          {"moved", report.moved},
          {"error", report.error},
          {"progress", report.progress},
          {"waited_for", report.waited_for},
          {"rail", report.rail}};
}

Result<RankReport> rank_report_from_json(const nlohmann::json& value) {
  try {
    RankReport report;
    report.elapsed_s = value.at("elapsed_s").get<std::vector<std::vector<double>>>();
    report.elements_checked = count_from(value, "elements_checked");
    report.elements_wrong = count_from(value, "elements_wrong");
    report.first_wrong = value.at("first_wrong").get<std::string>();
    report.moved = value.at("moved").get<std::vector<RailBytes>>();
    report.error = value.at("error").get<std::string>();
    report.progress = whole_from<std::int64_t>(value, "progress");
    report.waited_for = value.at("waited_for").get<std::string>();
    report.rail = value.at("rail").get<std::string>();
    return report;
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorKind::parse, fmt::format("report of a rank: {}", problem.what())};
  }
}

CollectiveSample empty_sample(const CollectiveOrder& order) {
  CollectiveSample sample;
  sample.hosts = order.hosts;
  sample.ranks = static_cast<int>(order.ranks.size());
  sample.engine = "ucx-tcp";
  if (order.rails.size() == 1) sample.rail = order.rails.front().name;
  return sample;
}

CollectiveSample summarise(const CollectiveOrder& order, const std::vector<std::optional<RankReport>>& reports) {
  auto sample = empty_sample(order);
  for (std::size_t index = 0; index < reports.size(); ++index) {
    const auto& report = reports[index];
    if (!report) {
      sample.missing.push_back(order.hosts[index]);
      continue;
    }
    add_moved(order, index, *report, sample);
    sample.elements_checked += report->elements_checked;
    sample.elements_wrong += report->elements_wrong;
    if (sample.first_wrong.empty() && !report->first_wrong.empty()) {
      sample.first_wrong = fmt::format("host {} {}", order.hosts[index], report->first_wrong);
    }
  }
  add_points(order, reports, sample);
  add_error(order, reports, sample);
  return sample;
}

}  // namespace fabricgate::fabric
