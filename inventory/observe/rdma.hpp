#pragma once
/// The RDMA side of one rail as sysfs shows it: the device and its port, its GID table, the PCI function below it and
/// the virtual functions of that. /sys/class/infiniband and /sys/bus/pci of a Host, no verbs: needs neither driver nor
/// root.
#include <cstdint>
#include <string>
#include <vector>

#include "inventory/observe/facts.hpp"

namespace fabricgate {

/// One entry of a port's GID table that is not zero.
struct Gid {
  int index = -1;
  std::string gid;     ///< eight groups of four digits, as in sysfs
  std::string type;    ///< "RoCE v2", "IB/RoCE v1"
  std::string netdev;  ///< interface the entry belongs to, may be empty
};

struct VirtualFunction {
  std::string pci, driver;
  std::string netdev, mac;  ///< empty: no interface in this network namespace
  bool admin_up = false, carrier = false;
  int mtu = 0;
  std::string device, node_guid, port_guid, state, phys_state;  ///< RDMA device; empty: none here
  std::int64_t lid = 0, sm_lid = 0;
  std::string policy;  ///< "Follow", "Up", "Down" as set through the PF, empty where the driver has no such file
};

/// What the inventory says of a rail; `pci` may be empty.
struct RdmaNames {
  std::string device, netdev, pci;
};

struct RdmaState {
  bool present = false;              ///< the device named exists and has a port for the interface named
  std::vector<std::string> devices;  ///< every RDMA device of the machine
  RdmaPort port;
  std::string node_type;             ///< "CA" or "RNIC" (iWARP)
  bool software = false;             ///< rxe, siw: no adapter behind it
  std::vector<std::string> netdevs;  ///< interfaces the device says it belongs to
  std::vector<Gid> gids;
  bool netdev_up = false, netdev_carrier = false;
  int netdev_mtu = 0;
  std::string function;  ///< PCI address: the declared one, else the interface's, else the device's
  bool function_present = false;
  std::string function_driver;
  int vfs_total = -1, vfs = -1;  ///< -1: no such attribute
  std::vector<VirtualFunction> virtual_functions;
  double read_unix_s = 0;
};

/// Never an error: what is absent stays empty.
RdmaState read_rdma(Host& host, const RdmaNames& names);

nlohmann::json to_json_value(const RdmaState& state);
/// Every key is required. Errors: parse.
Result<RdmaState> rdma_state_from_json(const nlohmann::json& value);

}  // namespace fabricgate
