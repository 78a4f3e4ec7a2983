#pragma once
/// What two ends measured over RDMA on one rail, and what went wrong first. Plain data, SI units, JSON both ways.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/pairs/pair_sample.hpp"
#include "results/result.hpp"

namespace fabricgate::fabric {

enum class Operation { write, write_imm, read, send };
const char* to_string(Operation operation);
Result<Operation> parse_operation(std::string_view text);

/// One end as it was used.
struct VerbsEnd {
  std::string device;
  int port = 0;
  std::string link_layer;       ///< "Ethernet" or "InfiniBand"
  int gid_index = -1;           ///< -1: InfiniBand without global routing
  std::string gid;              ///< as sysfs writes it
  std::uint64_t mtu_bytes = 0;  ///< active MTU of the port
  std::string memory;           ///< kind, pages and NUMA node of the buffers
};

/// One direction, named by where the data went. Rate and processor time are of the steady part alone.
struct VerbsFlow {
  double bytes_per_s = 0;  ///< by completions at the end that posted
  std::uint64_t messages = 0;
  double elapsed_s = 0;
  double cpu_s = 0;                   ///< of the thread that posted; it polls, so this is near elapsed_s
  std::uint64_t payload_checked = 0;  ///< messages that were compared byte by byte where they arrived
  std::uint64_t payload_errors = 0;
  std::string first_wrong;  ///< "qp 1, slot 3, byte 17: expected 0x12, found 0xee"; empty when none
};

struct VerbsRate {
  Operation operation = Operation::write;
  std::uint64_t bytes = 0;
  std::uint64_t qps = 1;
  bool both = false;         ///< both directions ran at once
  VerbsFlow a_to_b, b_to_a;  ///< of a read: a_to_b is the data that b reads from a
};

/// Half round trips.
struct VerbsLatency {
  Operation operation = Operation::write;
  std::uint64_t bytes = 0;
  std::uint64_t iterations = 0;
  double min_s = 0, mean_s = 0, p50_s = 0, p90_s = 0, p99_s = 0, p999_s = 0, max_s = 0;
};

/// The first thing that went wrong; what only followed from it is a number.
struct VerbsFailure {
  std::string host;          ///< the end that saw it
  std::string cause;         ///< id of results/causes.tsv
  std::string what;          ///< call or work request, object, code and its text
  std::string step;          ///< "write, 65536 bytes, 2 qps"; empty: while connecting
  int native = 0;            ///< errno or ibv_wc_status
  std::uint64_t vendor = 0;  ///< vendor_err of a completion
  std::uint64_t echoes = 0;  ///< completions flushed after it

  friend bool operator==(const VerbsFailure&, const VerbsFailure&) = default;
};

/// Sample of pair.rdma.
struct VerbsSample {
  std::string a, b, rail;
  PairMode mode = PairMode::together;
  double concurrent_pairs = 1;       ///< pairs active in the round
  VerbsEnd a_end, b_end;
  std::uint64_t path_mtu_bytes = 0;  ///< the smaller of both ends' active MTUs
  std::vector<VerbsRate> rates;
  std::vector<VerbsLatency> latencies;
  VerbsFailure failure;  ///< no cause: none
};

nlohmann::json to_json_value(const VerbsSample& sample);
/// Every key is required. Errors: parse.
Result<VerbsSample> verbs_sample_from_json(const nlohmann::json& value);

nlohmann::json to_json_value(const VerbsEnd& end);
nlohmann::json to_json_value(const VerbsFlow& flow);
nlohmann::json to_json_value(const VerbsLatency& latency);
nlohmann::json to_json_value(const VerbsFailure& failure);
/// These throw the library's exceptions.
VerbsEnd verbs_end_from(const nlohmann::json& value);
VerbsFlow verbs_flow_from(const nlohmann::json& value);
VerbsLatency verbs_latency_from(const nlohmann::json& value);
VerbsFailure verbs_failure_from(const nlohmann::json& value);

}  // namespace fabricgate::fabric
