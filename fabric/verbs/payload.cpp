#include "fabric/verbs/payload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fabric/round/pattern.hpp"

namespace fabricgate::fabric {
namespace {

std::uint64_t slot_seed(std::uint64_t seed, std::uint64_t qp, std::uint64_t slot) {
  return mix(seed + mix(qp << 32 | slot));
}

}  // namespace

void prepare_payload(const Endpoint& endpoint, const Layout& layout, std::uint64_t seed) {
  for (std::uint64_t qp = 0; qp < endpoint.plan().qps; ++qp)
    for (std::uint64_t slot = 0; slot < layout.slots; ++slot) {
      fill_pattern(endpoint.memory(layout.tx(qp, slot)), layout.stride, slot_seed(seed, qp, slot));
      poison(endpoint.memory(layout.rx(qp, slot)), layout.stride);
    }
}

void check_payload(const Arrived& arrived, std::uint64_t slots, VerbsFlow& flow) {
  const Layout& layout = arrived.layout;
  std::vector<std::byte> expected(layout.stride);
  for (std::uint64_t i = 0; i < arrived.endpoint.plan().qps * std::min(slots, layout.slots); ++i) {
    const std::uint64_t qp = i / std::min(slots, layout.slots), slot = i % std::min(slots, layout.slots);
    fill_pattern(expected.data(), layout.stride, slot_seed(arrived.seed, qp, slot));
    poison(expected.data() + layout.bytes, layout.stride - layout.bytes);
    const std::byte* const found = arrived.endpoint.memory(layout.rx(qp, slot));
    ++flow.payload_checked;
    const auto [wrong, right] = std::mismatch(found, found + layout.stride, expected.begin());
    if (wrong == found + layout.stride || flow.payload_errors++ > 0) continue;
    flow.first_wrong = fmt::format("qp {}, slot {}, byte {}: expected {:#04x}, found {:#04x}", qp, slot, wrong - found,
                                   std::to_integer<int>(*right), std::to_integer<int>(*wrong));
  }
}

}  // namespace fabricgate::fabric
