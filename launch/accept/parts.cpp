#include "launch/accept/parts.hpp"

#include "launch/accept/worker.hpp"

namespace fabricgate::launch {

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"stage", stage_own_node}, {"facts", measure_facts},   {"link", measure_link},   {"counters", measure_counters},
      {"reach", measure_reach},   {"frames", measure_frames}, {"pairs", measure_pairs}, {"collective", measure_collective, true},
  };
  return all;
}

}  // namespace fabricgate::launch
