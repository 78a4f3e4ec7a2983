#pragma once
/// Samples about the RDMA device and the cable of one rail of one node.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inventory/observe/lldp.hpp"
#include "inventory/observe/rdma.hpp"
#include "results/result.hpp"

namespace fabricgate::fabric {

/// Sample of link.rdma (start of a run) and of link.rdma_counters (its end).
struct RdmaSample {
  std::string host, rail, device;
  RdmaState now;
  std::optional<RdmaState> before;  ///< set for link.rdma_counters, absent for link.rdma
};

/// Sample of link.cabling.
struct CablingSample {
  std::string host, rail, netdev;
  std::string unreadable;                 ///< why the switches could not be asked; empty: they were
  std::vector<LldpNeighbour> neighbours;  ///< of this interface
};

nlohmann::json to_json_value(const RdmaSample& sample);
nlohmann::json to_json_value(const CablingSample& sample);
Result<RdmaSample> rdma_sample_from_json(const nlohmann::json& value);
Result<CablingSample> cabling_sample_from_json(const nlohmann::json& value);

}  // namespace fabricgate::fabric
