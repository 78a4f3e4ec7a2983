#include <stdexcept>

#include "fabric/collective/all_reduce.hpp"
#include "launch/accept/parts.hpp"

namespace fabricgate::launch {

PartResult measure_collective(Work& work, const nlohmann::json& body, Deadline deadline) {
  auto order = fabric::collective_order_from_json(body);
  if (!order) throw std::runtime_error(order.error().what);
  order->deadline_s = std::min(order->deadline_s, deadline.left_s());
  // every rank holds the same sample; rank 0's own is the one that counts
  const fabric::CollectiveSample sample = fabric::run_all_reduce(work.meet, *order);
  return {.measured = {}, .stored = {}, .data = work.meet.rank() == 0 ? to_json_value(sample) : nlohmann::json()};
}

}  // namespace fabricgate::launch
