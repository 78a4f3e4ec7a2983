#pragma once
/// How RoCE traffic of one rail is marked and kept lossless, as it is now, and, as pure functions of that, what is
/// left.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

struct SeenRoce {
  std::string rail, netdev, device;
  bool present = false;             ///< the interface is there
  std::string guarded;              ///< why it must not be touched; empty: it may
  std::string qos_error;            ///< why mlnx_qos told nothing; empty: it did, or was not asked
  std::string trust;                ///< dscp, pcp
  std::vector<int> pfc;             ///< lossless priorities
  std::map<int, int> priorities;    ///< by DSCP
  bool ecn_files = false;           ///< the driver has ecn/ below the interface
  std::vector<int> ecn_np, ecn_rp;  ///< priorities whose marks the receiver answers, and the sender heeds
  int traffic_class = -1;           ///< of all RDMA traffic; -1: no such file or not set
  bool traffic_class_file = false;
  int tos = -1;                      ///< of connections through the connection manager; -1: not told
  std::string mode;                  ///< its default GID type
  bool configfs = false;             ///< /sys/kernel/config/rdma_cm is there
  bool addressed = false;            ///< the rail's address is on the interface
  int gid = -1;                      ///< index of the rail's RoCE v2 GID
  std::string gid_cause, gid_found;  ///< why there is none
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SeenRoce, rail, netdev, device, present, guarded, qos_error, trust, pfc, priorities,
                                   ecn_files, ecn_np, ecn_rp, traffic_class, traffic_class_file, tos, mode, configfs,
                                   addressed, gid, gid_cause, gid_found)

SeenRoce see_roce(StepContext& context, const DesiredRail& rail);

/// A command, or a write to a file of /sys.
struct RoceDeed {
  std::vector<std::string> arguments;  ///< empty: a write
  std::string path, value;
};
/// One setting: what is wanted and found, and how it is brought about; without deeds it cannot be, for the reason
/// given.
struct RoceChange {
  std::string wanted, found, reason;
  std::vector<RoceDeed> deeds;
};
std::vector<RoceChange> roce_changes(const RoceSpec& spec, const SeenRoce& seen);

}  // namespace fabricgate::bootstrap
