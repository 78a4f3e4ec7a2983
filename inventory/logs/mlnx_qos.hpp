#pragma once
/// Output of `mlnx_qos -i INTERFACE`.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate {

struct QosSettings {
  std::string dcbx;               ///< "OS controlled", "Firmware controlled"; empty: not told
  std::string trust;              ///< dscp, pcp; empty: not told
  std::vector<int> pfc;           ///< priorities that are lossless, ascending
  std::map<int, int> priorities;  ///< by DSCP; told only where DSCP is trusted
};

/// Errors: what the tool says instead (native), or no PFC table (parse).
Result<QosSettings> parse_mlnx_qos(std::string_view text);

}  // namespace fabricgate
