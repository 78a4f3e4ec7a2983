#pragma once
/// One round of the pair tier as data: rank 0 broadcasts a RoundOrder, every rank runs its part (run.hpp) and hands its
/// halves back, merge.hpp puts the two halves of a pair together.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/pairs/pair_sample.hpp"
#include "results/result.hpp"

namespace fabricgate::fabric {

/// One rail of a pair: the interface and its IPv4 address at either end. Names of the netdevs may differ.
struct RailEnds {
  std::string name;
  std::string a_netdev, a_address, b_netdev, b_address;
  std::string a_device, b_device = {};  ///< RDMA devices as declared, empty: none
  double rate_bytes_per_s = 0;          ///< declared, of the slower end; how much RDMA has under way depends on it, and how long a round takes

  /// It is measured over RDMA too: both ends declare a device.
  bool has_rdma() const { return !a_device.empty() && !b_device.empty(); }
};

struct PairTask {
  int a_rank = 0, b_rank = 0;
  std::string a, b;                  ///< node names, inventory order
  std::vector<RailEnds> rails;       ///< measured all at once; empty when only the overlay is wanted
  bool overlay = false;              ///< plain TCP between the management addresses, after the rails
  std::string a_address, b_address;  ///< management addresses (IPv4), needed when overlay
  PairMode mode = PairMode::together;
  bool b_first = false;  ///< measure b_to_a first: tells a dead direction from a dead rail
};

struct RoundOrder {
  std::vector<PairTask> tasks;
  std::vector<std::uint64_t> sizes = {4096, 65536, 1 << 20};  ///< message sizes, ascending; the last one is judged
  std::uint64_t flows = 64;      ///< connections that each end dials per rail before anything streams; 0: none
  double seconds = 1;            ///< one direction streams so long in all: small sizes, warm-up, measured window
  double both_seconds = 0;       ///< then both directions of a rail at once for so long; 0: not
  double rdma_seconds = 0.3;     ///< then RDMA writes, one way and the other, counted for so long; see rdma.hpp
  std::uint64_t rdma_round_trips = 200;  ///< of a small RDMA write
  double overlay_seconds = 0.5;  ///< the same for the overlay
  double warmup_s = 0.2;         ///< of the largest size: TCP slow start, token buckets; see window.hpp
  double connect_s = 5;          ///< for the peer to answer, and for the first message to arrive
  double stall_s = 4;            ///< a direction ends with an error when nothing arrived for so long
  double deadline_s = 60;        ///< for everything, on every rank, from the call on
};

/// Message size with both directions at once; small, so that none that is still on its way counts for much.
inline std::uint64_t both_bytes(const RoundOrder& order) { return std::min<std::uint64_t>(64 << 10, order.sizes.back()); }

/// Messages in flight for a size: about 1 MiB, 4 to 64 messages.
inline std::uint64_t stream_window(std::uint64_t bytes) { return std::clamp<std::uint64_t>((1u << 20) / bytes, 4, 64); }

/// One message size of one direction.
struct StreamPlan {
  std::uint64_t bytes = 0;
  double warmup_s = 0, measure_s = 0;
  std::uint64_t window = 0;  ///< messages in flight, 0: stream_window
  bool cut = false;          ///< the window ends when its time is over, whatever is still on the way
};
/// `seconds` shared out over the sizes: 5 % for each small one, the rest for the last, of which warmup_s (but at most
/// 40 %) is warm-up.
std::vector<StreamPlan> stream_plans(const RoundOrder& order, double seconds);

inline constexpr std::uint64_t rdma_bytes = 64 << 10, rdma_latency_bytes = 8;  ///< sizes of RDMA writes
inline constexpr std::uint64_t least_round_trips = 50, most_round_trips = 1'000'000;  ///< bounds of rdma_round_trips
inline constexpr double rdma_margin_s = 0.05;  ///< not counted, before and after rdma_seconds

/// Why a rail is not measured over RDMA, empty: it is.
std::string rdma_skipped(const PairTask& task, const RailEnds& rail);

/// How long the round takes when nothing is wrong, set-up included.
double expected_seconds(const RoundOrder& order);

/// Sizes ascending, multiples of 8, 64 B to 64 MiB; times positive; ranks of a task different, at least one rail or the
/// overlay. Kind parse, naming the value.
Status check_order(const RoundOrder& order);

nlohmann::json to_json_value(const RoundOrder& order);
/// Checked by check_order.
Result<RoundOrder> round_order_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
