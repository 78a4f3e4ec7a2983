#include "fabric/verbs/plan.hpp"

#include <fmt/format.h>

#include <bit>

namespace fabricgate::fabric {
namespace {

constexpr std::uint64_t cache_line = 64;
constexpr std::uint64_t largest_message = std::uint64_t{1} << 30;  // 2^31 is what an InfiniBand message may have

std::uint64_t stride_of(std::uint64_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

std::uint64_t area_of(const VerbsPlan& plan) {
  std::uint64_t area = plan.cycle_bytes;
  for (const auto& step : plan.steps) area = std::max(area, stride_of(step.bytes));
  return stride_of(area);
}

Status bad(const std::string& what) {
  return Error{ErrorKind::parse, "plan: " + what};
}

Status check_step(const VerbsStep& step) {
  if (step.bytes < 1 || step.bytes > largest_message)
    return bad(fmt::format("messages of {} bytes: expected 1 to {}", step.bytes, largest_message));
  if (!step.a_to_b && !step.b_to_a) return bad("a step goes neither way");
  if (step.messages == 0 && !(step.seconds > 0)) return bad("a step has neither messages nor seconds");
  if (step.messages > 0 && 2 * step.margin_messages >= step.messages)
    return bad(fmt::format("margins of {} leave nothing of {} messages", step.margin_messages, step.messages));
  if (!step.latency) return {};
  if (step.operation != Operation::write && step.operation != Operation::send)
    return bad(fmt::format("latency of {}: expected write or send", to_string(step.operation)));
  return step.messages == 0 ? bad("latency needs a number of messages") : Status();
}

}  // namespace

std::string step_text(const VerbsPlan& plan, const VerbsStep& step) {
  const std::string what = step.latency ? " latency" : step.both ? " both ways" : "";
  return fmt::format("{}{}, {} bytes, {} qp{}", to_string(step.operation), what, step.bytes, plan.qps,
                     plan.qps == 1 ? "" : "s");
}

Status check_plan(const VerbsPlan& plan) {
  if (plan.steps.empty()) return bad("no steps");
  if (plan.qps < 1 || plan.qps > 1024) return bad(fmt::format("{} queue pairs: expected 1 to 1024", plan.qps));
  if (plan.depth < 2 || plan.depth > 16384) return bad(fmt::format("depth {}: expected 2 to 16384", plan.depth));
  if (plan.post_list < 1 || plan.post_list > plan.depth)
    return bad(fmt::format("lists of {}: expected 1 to depth {}", plan.post_list, plan.depth));
  if (plan.moderation < 1 || plan.moderation > plan.depth)
    return bad(fmt::format("a completion for {} messages: expected 1 to depth {}", plan.moderation, plan.depth));
  if (plan.cycle_bytes < cache_line || plan.cycle_bytes > largest_message)
    return bad(fmt::format("memory of {} bytes to go round in: expected {} to {}", plan.cycle_bytes, cache_line,
                           largest_message));
  if (plan.timeout < 1 || plan.timeout > 31) return bad(fmt::format("timeout {}: expected 1 to 31", plan.timeout));
  if (plan.retries < 0 || plan.retries > 7) return bad(fmt::format("{} retries: expected 0 to 7", plan.retries));
  for (const auto& step : plan.steps)
    if (auto good = check_step(step); !good) return good;
  return {};
}

Layout layout_of(const VerbsPlan& plan, const VerbsStep& step) {
  Layout layout{.bytes = step.bytes, .stride = stride_of(step.bytes), .area = area_of(plan)};
  layout.slots = std::bit_floor(std::clamp<std::uint64_t>(plan.cycle_bytes / layout.stride, 1, plan.depth));
  return layout;
}

std::uint64_t memory_bytes(const VerbsPlan& plan) {
  return 2 * plan.qps * area_of(plan);
}

}  // namespace fabricgate::fabric
