#pragma once
/// What one machine says of itself. Read from /sys, /proc, netlink and a few commands under a Host; used by the agent
/// over SSH and by launched ranks alike. A fact that could not be read stays empty and is named in `unread`.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inventory/host/host.hpp"
#include "results/result.hpp"

namespace fabricgate {

struct PciDevice {
  std::string address, vendor, device, device_class, driver;           ///< ids as in sysfs: 0x15b3
  std::string link_speed, link_width, max_link_speed, max_link_width;  ///< as in sysfs, of the device
  std::string path_speed, path_width;                                  ///< smallest maximum over the path to the root
  int numa_node = -1;
  int vfs_total = 0, vfs = 0;
  std::string physical_function;   ///< PF's address when this is a VF
  std::vector<std::string> above;  ///< addresses of the bridges to the root, from the root down
};

struct Netdev {
  std::string name, mac, operstate, driver, pci;
  bool admin_up = false, carrier = false;
  std::int64_t speed_mbps = -1;  ///< -1 unknown
  int mtu = 0;
  std::vector<std::string> addresses;  ///< "10.0.0.1/24"
  std::int64_t carrier_changes = 0;
  std::map<std::string, std::int64_t> counters;  ///< statistics/*: rx_errors, tx_dropped, …
};

struct RdmaPort {
  std::string device, netdev, state, phys_state, rate, link_layer, node_guid;
  std::string pci;  ///< function of the device, empty for soft RDMA
  int port = 0;
  std::int64_t lid = 0, sm_lid = 0;
  std::map<std::string, std::int64_t> counters;
};

struct Facts {
  std::string hostname, machine_id, boot_id;
  std::string os_id, os_version, kernel, architecture;
  std::string cpu_model;
  int cpus = 0, numa_nodes = 0;
  std::int64_t memory_bytes = 0;
  std::uint64_t memlock_soft_bytes = 0, memlock_hard_bytes = 0;  ///< of the process that asked; UINT64_MAX unlimited
  std::vector<PciDevice> pci;  ///< network controllers, GPUs (0x10de, 0x0302xx/0x0300xx) and bridges above them
  std::vector<Netdev> netdevs;
  std::vector<RdmaPort> rdma_ports;
  int gpus = 0;  ///< PCI functions of vendor 0x10de with class 0x03xxxx
  std::vector<std::string> modules;
  std::map<std::string, std::string> sysctl;    ///< the keys that were asked for
  std::vector<std::string> routes;              ///< "default via 10.0.0.1 dev eth0", as `ip -4 route` would say
  std::map<std::string, std::string> versions;  ///< openmpi, ucx, nccl, cuda_driver, rdma_core, fabricgate, libc
  std::string ssh_interface;                ///< interface that carries the SSH connection of the asking process, if any
  std::vector<std::string> gpu_processes;   ///< "pid name"
  std::vector<std::string> network_mounts;  ///< mount points whose server is reached over a non-management interface
  double clock_unix_s = 0;                  ///< when the facts were read
  std::map<std::string, std::int64_t> free_bytes;  ///< path → free space
  std::vector<std::string> unread;                 ///< "pci: open /sys/bus/pci/devices: …"
};

struct FactsRequest {
  std::vector<std::string> sysctl_keys;
  std::vector<std::string> free_space_paths;
  std::vector<std::string> version_prefixes;  ///< MPI prefix first
};

Facts observe(Host& host, const FactsRequest& request, Deadline deadline);

nlohmann::json to_json_value(const Facts& facts);
Result<Facts> facts_from_json(const nlohmann::json& value);

}  // namespace fabricgate
