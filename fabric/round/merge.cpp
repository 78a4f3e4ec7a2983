#include "fabric/round/merge.hpp"

#include <fmt/format.h>

namespace fabricgate::fabric {
namespace {

using Halves = std::vector<PairSample>;

std::optional<PairSample> find_half(const Halves& halves, const PairTask& task, const std::string& rail, bool overlay) {
  for (const auto& half : halves) {
    if (half.a == task.a && half.b == task.b && half.rail == rail && (half.engine == "tcp") == overlay) return half;
  }
  return std::nullopt;
}

/// The receiver's numbers, the first error either side met.
DirectionSample merge_direction(const DirectionSample* received, const DirectionSample* sent,
                                const std::string& receiver) {
  DirectionSample merged;
  if (received != nullptr) {
    merged = *received;
  } else {
    merged.error = fmt::format("{} reported nothing", receiver);
  }
  if (sent != nullptr) {
    merged.sent_bytes = sent->sent_bytes;
    merged.segments = sent->segments;
    merged.retransmitted = sent->retransmitted;
  }
  if (sent != nullptr && !sent->error.empty() && (received == nullptr || merged.error.empty())) {
    merged.error += fmt::format("{}{}", merged.error.empty() ? "" : "; ", sent->error);
  }
  return merged;
}

/// Set-up errors of either end; the same text from both is one error without a host.
void merge_errors(PairSample& merged, const std::optional<PairSample>& a, const std::optional<PairSample>& b) {
  const std::string a_says = a ? a->error : "", b_says = b ? b->error : "";
  if (!a_says.empty() && !b_says.empty()) {
    const bool same_host = a->error_host == b->error_host;
    merged.error = a_says == b_says || same_host ? a_says : fmt::format("{}: {}; {}: {}", a->a, a_says, b->b, b_says);
    merged.error_host = same_host ? a->error_host : "";
  } else if (!a_says.empty() || !b_says.empty()) {
    const auto& half = a_says.empty() ? *b : *a;
    merged.error = half.error;
    merged.error_host = half.error_host;
  }
}

Halves halves_of(int rank, const std::vector<std::optional<std::string>>& gathered, std::string& problem) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= gathered.size() || !gathered[index]) {
    problem = "did not arrive after the round";
    return {};
  }
  auto halves = halves_from_text(*gathered[index]);
  if (halves) return *halves;
  problem = halves.error().what;
  return {};
}

}  // namespace

std::string halves_to_text(const std::vector<PairSample>& halves) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& half : halves) list.push_back(to_json_value(half));
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<PairSample>> halves_from_text(const std::string& text) {
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return Error{ErrorKind::parse, "halves of a round: not a JSON list"};
  Halves halves;
  for (const auto& entry : list) {
    auto half = pair_sample_from_json(entry);
    if (!half) return half.error().with("halves of a round");
    halves.push_back(*half);
  }
  return halves;
}

PairSample merge_halves(const PairTask& task, const std::optional<PairSample>& a, const std::optional<PairSample>& b) {
  PairSample merged{.a = task.a, .b = task.b, .mode = task.mode};
  if (const auto& some = a ? a : b) {
    merged.rail = some->rail;
    merged.engine = some->engine;
    merged.concurrent_pairs = some->concurrent_pairs;
  }
  merged.a_to_b = merge_direction(b ? &b->a_to_b : nullptr, a ? &a->a_to_b : nullptr, task.b);
  merged.b_to_a = merge_direction(a ? &a->b_to_a : nullptr, b ? &b->b_to_a : nullptr, task.a);
  merged.a_to_b_both = merge_direction(b ? &b->a_to_b_both : nullptr, a ? &a->a_to_b_both : nullptr, task.b);
  merged.b_to_a_both = merge_direction(a ? &a->b_to_a_both : nullptr, b ? &b->b_to_a_both : nullptr, task.a);
  if (b) merged.flows_b_to_a = b->flows_b_to_a;
  if (a) {
    merged.flows_a_to_b = a->flows_a_to_b;
    merged.latency_iterations = a->latency_iterations;
    merged.latency_p50_s = a->latency_p50_s;
    merged.latency_p99_s = a->latency_p99_s;
  }
  merge_errors(merged, a, b);
  return merged;
}

std::vector<PairSample> merge_round(const RoundOrder& order, const std::vector<std::optional<std::string>>& gathered) {
  std::vector<PairSample> samples;
  for (const auto& task : order.tasks) {
    std::string a_problem, b_problem;
    const auto a_halves = halves_of(task.a_rank, gathered, a_problem);
    const auto b_halves = halves_of(task.b_rank, gathered, b_problem);
    const auto add = [&](const std::string& rail, bool overlay) {
      auto sample =
          merge_halves(task, find_half(a_halves, task, rail, overlay), find_half(b_halves, task, rail, overlay));
      sample.rail = rail;
      sample.engine = overlay ? "tcp" : "ucx-tcp";
      sample.concurrent_pairs = static_cast<double>(order.tasks.size());
      // a rank that is gone is the cause; what its peer saw is the echo
      if (!a_problem.empty() && !b_problem.empty()) {
        sample.error = fmt::format("{} {}; {} {}", task.a, a_problem, task.b, b_problem);
        sample.error_host.clear();
      } else if (!a_problem.empty() || !b_problem.empty()) {
        sample.error_host = a_problem.empty() ? task.b : task.a;
        sample.error = fmt::format("{} {}", sample.error_host, a_problem.empty() ? b_problem : a_problem);
      }
      samples.push_back(std::move(sample));
    };
    for (const auto& rail : task.rails) add(rail.name, false);
    if (task.overlay) add("", true);
  }
  return samples;
}

}  // namespace fabricgate::fabric
