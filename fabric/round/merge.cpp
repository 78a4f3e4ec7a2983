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
    merged.sent_cpu_s_per_byte = sent->sent_cpu_s_per_byte;
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

RoundShare share_of(int rank, const std::vector<std::optional<std::string>>& gathered, std::string& problem) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= gathered.size() || !gathered[index]) {
    problem = "did not arrive after the round";
    return {};
  }
  auto share = share_from_text(*gathered[index]);
  if (share) return std::move(*share);
  problem = share.error().what;
  return {};
}

/// The two ranks of a task as they came back.
struct Ends {
  const PairTask& task;
  RoundShare a, b;
  std::string a_problem = {}, b_problem = {};  ///< why there is no share
};

const VerbsSample* find_rdma(const RoundShare& share, const PairTask& task, const std::string& rail) {
  for (const auto& sample : share.rdma)
    if (sample.a == task.a && sample.b == task.b && sample.rail == rail) return &sample;
  return nullptr;
}

/// Both ends have the same, unless one fell silent: what an end says of itself comes before what the other missed.
VerbsSample merge_rdma(const Ends& ends, const std::string& rail) {
  const VerbsSample *a = find_rdma(ends.a, ends.task, rail), *b = find_rdma(ends.b, ends.task, rail);
  const auto silent = [&](const std::string& host, const std::string& problem) {
    VerbsSample sample{.a = ends.task.a, .b = ends.task.b, .rail = rail};
    sample.failure = {.host = host, .cause = "launch.rank_silent", .what = fmt::format("{} {}", host, problem)};
    return sample;
  };
  if (a == nullptr) return silent(ends.task.a, ends.a_problem.empty() ? "reported nothing" : ends.a_problem);
  if (b == nullptr) return silent(ends.task.b, ends.b_problem.empty() ? "reported nothing" : ends.b_problem);
  const auto says = [](const VerbsSample& sample) {
    return !sample.failure.cause.empty() && sample.failure.cause != "launch.rank_silent";
  };
  if (says(*a) != says(*b)) return says(*a) ? *a : *b;
  return a->failure.cause.empty() ? *b : *a;
}

PairSample merge_path(const Ends& ends, const std::string& rail, bool overlay) {
  const PairTask& task = ends.task;
  auto sample = merge_halves(task, find_half(ends.a.halves, task, rail, overlay),
                             find_half(ends.b.halves, task, rail, overlay));
  sample.rail = rail;
  sample.engine = overlay ? "tcp" : "ucx-tcp";
  // a rank that is gone is the cause; what its peer saw is the echo
  if (!ends.a_problem.empty() && !ends.b_problem.empty()) {
    sample.error = fmt::format("{} {}; {} {}", task.a, ends.a_problem, task.b, ends.b_problem);
    sample.error_host.clear();
  } else if (!ends.a_problem.empty() || !ends.b_problem.empty()) {
    sample.error_host = ends.a_problem.empty() ? task.b : task.a;
    sample.error = fmt::format("{} {}", sample.error_host, ends.a_problem.empty() ? ends.b_problem : ends.a_problem);
  }
  return sample;
}

}  // namespace

std::string share_to_text(const RoundShare& share) {
  nlohmann::json halves = nlohmann::json::array(), rdma = nlohmann::json::array();
  for (const auto& half : share.halves) halves.push_back(to_json_value(half));
  for (const auto& sample : share.rdma) rdma.push_back(to_json_value(sample));
  const nlohmann::json value = {{"halves", halves}, {"rdma", rdma}};
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<RoundShare> share_from_text(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object() || !value.contains("halves") || !value.contains("rdma"))
    return Error{ErrorKind::parse, "share of a round: not JSON with halves and rdma"};
  RoundShare share;
  for (const auto& entry : value["halves"]) {
    auto half = pair_sample_from_json(entry);
    if (!half) return half.error().with("share of a round");
    share.halves.push_back(std::move(*half));
  }
  for (const auto& entry : value["rdma"]) {
    auto sample = verbs_sample_from_json(entry);
    if (!sample) return sample.error().with("share of a round");
    share.rdma.push_back(std::move(*sample));
  }
  return share;
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

RoundSamples merge_round(const RoundOrder& order, const std::vector<std::optional<std::string>>& gathered) {
  RoundSamples samples;
  const auto pairs = static_cast<double>(order.tasks.size());
  for (const auto& task : order.tasks) {
    Ends ends{.task = task, .a = {}, .b = {}};
    ends.a = share_of(task.a_rank, gathered, ends.a_problem);
    ends.b = share_of(task.b_rank, gathered, ends.b_problem);
    for (const auto& rail : task.rails) {
      samples.pairs.push_back(merge_path(ends, rail.name, false));
      samples.pairs.back().rdma_skipped = rdma_skipped(task, rail);
      if (!rail.has_rdma()) continue;
      samples.rdma.push_back(merge_rdma(ends, rail.name));
      samples.rdma.back().mode = task.mode;
      samples.rdma.back().concurrent_pairs = pairs;
    }
    if (task.overlay) samples.pairs.push_back(merge_path(ends, "", true));
  }
  for (auto& sample : samples.pairs) sample.concurrent_pairs = pairs;
  return samples;
}

}  // namespace fabricgate::fabric
