#pragma once
/// An AllReduce over a set of nodes on host memory. Sample of collective.allreduce.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace fabricgate::fabric {

struct CollectivePoint {
  std::uint64_t bytes = 0;  ///< per rank
  std::string algorithm;    ///< ring | recursive_doubling
  int iterations = 0;
  double elapsed_s = 0;          ///< of one iteration: slowest rank's mean
  double busbw_bytes_per_s = 0;  ///< bytes / elapsed × 2(n−1)/n
};

/// Payload that one participant sent and received over one rail: all steps, warm-ups and barriers.
struct CollectiveTraffic {
  std::string host, rail;
  std::uint64_t sent_bytes = 0, received_bytes = 0;
};

/// Whose error was the first: the others' are its echoes.
struct CollectiveFailure {
  std::string host;        ///< who says so; empty: nobody
  std::string peer, rail;  ///< for whom it waited, over what; empty: for nobody
};

struct CollectiveSample {
  std::vector<std::string> hosts;  ///< participants in rank order
  int ranks = 0;
  std::string engine;                                      ///< ucx-tcp
  std::string rail;                                        ///< one rail, or empty for all rails at once
  std::vector<CollectivePoint> points;                     ///< ascending sizes; the last is the one judged
  std::uint64_t elements_checked = 0, elements_wrong = 0;  ///< over all ranks
  std::string first_wrong;                                 ///< "host gpu003 element 17: expected 6, found 5"
  std::vector<double> rank_elapsed_s;                      ///< largest size, mean per iteration by rank
  std::vector<CollectiveTraffic> moved;                    ///< by participant, by rail
  std::vector<std::string> missing;                        ///< hosts that did not arrive
  std::string error;
  CollectiveFailure failed;
};

nlohmann::json to_json_value(const CollectiveSample& sample);
Result<CollectiveSample> collective_sample_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
