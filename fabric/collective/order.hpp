#pragma once
/// What an AllReduce over a set of ranks is to do, as data; rank 0 of the job broadcasts it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

enum class Algorithm { ring, recursive_doubling };
const char* to_string(Algorithm algorithm);
Result<Algorithm> parse_algorithm(std::string_view text);

/// One rail as every participant sees it.
struct CollectiveRail {
  std::string name;
  std::vector<std::string> netdevs;  ///< by participant
  double weight = 1;                 ///< share of the data, in proportion to the other rails: its rate
};

/// One measurement: a size with an algorithm.
struct CollectiveStep {
  std::uint64_t bytes = 0;  ///< per rank
  Algorithm algorithm = Algorithm::ring;
};

struct CollectiveOrder {
  std::vector<int> ranks;             ///< participants: ranks of the job, ring order = this order; others only meet
  std::vector<std::string> hosts;     ///< their node names, same order
  std::vector<CollectiveRail> rails;  ///< the data is split over them; one rail = that rail alone
  std::vector<CollectiveStep> steps = {{64 << 10, Algorithm::recursive_doubling}, {16 << 20, Algorithm::ring}};
  int iterations = 5;  ///< timed, of each step, after `warmups`
  int warmups = 2;
  double connect_s = 10;    ///< for all to tell their addresses, and for the first message of a neighbour
  double stall_s = 5;       ///< for a neighbour's next message
  double deadline_s = 120;  ///< for everything
};

/// Most ranks with exact sums of floats.
constexpr int most_collective_ranks = 16000;

/// Ranks different, as many hosts and netdevs as ranks, at least two ranks and one rail, sizes multiples of 4. Kind
/// parse.
Status check_order(const CollectiveOrder& order);

/// At `node_bytes_per_s` of one node's rails.
double expected_seconds(const CollectiveOrder& order, double node_bytes_per_s);

nlohmann::json to_json_value(const CollectiveOrder& order);
Result<CollectiveOrder> collective_order_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
