#include <fmt/format.h>

#include "fabric/link/rdma_sample.hpp"
#include "fabric/round/order.hpp"
#include "fabric/verbs/verbs_sample.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::suites {
namespace {

fabric::DirectionSample direction(double rate, const std::vector<std::uint64_t>& sizes) {
  fabric::DirectionSample out;
  for (const std::uint64_t bytes : sizes) {
    const auto messages = static_cast<std::uint64_t>(rate * 0.93 * 0.5 / static_cast<double>(bytes)) + 1;
    const double elapsed = static_cast<double>(messages * bytes) / (rate * 0.93);
    out.sweep.push_back({.bytes = bytes, .bytes_per_s = rate * 0.93, .messages = messages, .elapsed_s = elapsed});
    out.sent_bytes = out.received_bytes += messages * bytes;
  }
  out.payload_checked = 12;
  out.segments = 40000;
  out.retransmitted = 4;
  out.sent_cpu_s_per_byte = out.received_cpu_s_per_byte = 2e-10;
  out.longest_gap_s = 0.01;
  return out;
}

fabric::VerbsEnd verbs_end(const Inventory& inventory, std::size_t node, const Rail& rail) {
  fabric::VerbsEnd end{.device = rail.device,
                       .port = 1,
                       .link_layer = "Ethernet",
                       .mtu_bytes = 1024,
                       .memory = "host memory, 4 KiB pages"};
  const auto state = fabric::rdma_sample_from_json(good_rdma(inventory, node, rail, false));
  if (!state) return end;  // a test on it fails
  end.gid = state->now.gids.back().gid;
  end.gid_index = state->now.gids.back().index;
  return end;
}

fabric::VerbsFlow verbs_flow(double bytes_per_s) {
  fabric::VerbsFlow flow{.bytes_per_s = bytes_per_s, .messages = 600};
  flow.elapsed_s = static_cast<double>(flow.messages * fabric::rdma_bytes) / bytes_per_s;
  flow.cpu_s = flow.elapsed_s * 0.99;
  flow.payload_checked = 8;
  return flow;
}

}  // namespace

nlohmann::json good_pair(const std::string& a, const std::string& b, const Rail* rail) {
  const double rate = rail != nullptr ? rail->rate_bits_per_s / 8 : 3e8;
  fabric::PairSample sample{
      .a = a, .b = b, .rail = rail != nullptr ? rail->name : "", .engine = rail != nullptr ? "ucx-tcp" : "tcp"};
  sample.a_to_b = sample.b_to_a = direction(rate, {4096, 65536, 1 << 20});
  if (rail != nullptr) {
    if (rail->device.empty()) sample.rdma_skipped = a + " and " + b + " declare no RDMA device for it";
    sample.flows_a_to_b = sample.flows_b_to_a = {.dialled = 64,
                                                 .answered = 64,
                                                 .late = 1,
                                                 .segment_bytes = static_cast<std::uint64_t>(rail->mtu - 52),
                                                 .whole = 64,
                                                 .usual_s = 0.002,
                                                 .slowest_s = 0.004};
    sample.a_to_b_both = direction(rate, {65536});
    sample.a_to_b_both.segments = sample.a_to_b_both.retransmitted = 0;  // counted one way at a time
    sample.a_to_b_both.sent_cpu_s_per_byte = sample.a_to_b_both.received_cpu_s_per_byte = 0;
    sample.b_to_a_both = sample.a_to_b_both;
  }
  sample.latency_iterations = 1000;
  sample.latency_p50_s = 4e-5;
  sample.latency_p99_s = 9e-5;
  return to_json_value(sample);
}

nlohmann::json good_pair_rdma(const Inventory& inventory, std::size_t a, std::size_t b, const Rail& rail) {
  const fabric::VerbsFlow flow = verbs_flow(0.95 * rail.rate_bits_per_s / 8);
  fabric::VerbsSample sample{.a = inventory.nodes[a].name,
                             .b = inventory.nodes[b].name,
                             .rail = rail.name,
                             .a_end = verbs_end(inventory, a, rail),
                             .b_end = verbs_end(inventory, b, rail),
                             .path_mtu_bytes = 1024};
  sample.rates = {{.operation = fabric::Operation::write, .bytes = fabric::rdma_bytes, .a_to_b = flow, .b_to_a = flow}};
  sample.latencies = {{.operation = fabric::Operation::write,
                       .bytes = fabric::rdma_latency_bytes,
                       .iterations = 179,
                       .min_s = 1e-6,
                       .mean_s = 2e-6,
                       .p50_s = 2e-6,
                       .p90_s = 3e-6,
                       .p99_s = 4e-6,
                       .p999_s = 5e-6,
                       .max_s = 5e-6}};
  return to_json_value(sample);
}

}  // namespace fabricgate::suites
