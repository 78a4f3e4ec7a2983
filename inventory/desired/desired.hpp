#pragma once
/// What one node should look like, worked out from the inventory alone: names, addresses, files. Pure and fleet-wide
/// consistent, so that a step needs only Desired and Host.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"

namespace fabricgate {

/// What a VF is known by on the wire: its MAC on Ethernet, node and port GUID on InfiniBand, as bytes in hexadecimal
/// with colons.
struct VfIdentity {
  std::string mac, guid;

  friend bool operator==(const VfIdentity&, const VfIdentity&) = default;
};

struct DesiredRail {
  std::string name, netdev, device, pci;
  std::uint32_t address = 0;  ///< host byte order, unique in the rail over the fleet
  int prefix = 32;
  int mtu = 1500;
  double rate_bits_per_s = 0;
  LinkLayer link_layer = LinkLayer::ethernet;
  int vfs = 0;
  VfSpec vf;
  std::uint64_t first_vf_guid = 0;  ///< of VF 0; see vf_identity
  RoceSpec roce;
};

struct Desired {
  std::string node;
  std::string management_address;
  Cidr management;
  std::string install_dir, spool_dir, mpi_prefix;
  std::vector<DesiredRail> rails;
  std::optional<std::uint64_t> memlock_bytes;
  std::vector<std::string> packages;
  std::map<std::string, std::string> sysctl;  ///< class values plus what rails need
  std::vector<std::string> modules;
  Manage manage;
  DriverSpec driver;
  Owner sriov_owner = Owner::none;
  std::string eswitch;
  bool kernel_cmdline = false;  ///< the kernel boots with what SR-IOV needs
  std::string rdma_namespace;   ///< shared | exclusive, empty: left as it is
};

/// `node` is an index into inventory.nodes. Rail addresses: the node's own when given, else the pool's host number = 1
/// + position of the node in the whole inventory.
Desired desired(const Inventory& inventory, std::size_t node);

/// As the class says; where it does not, when the host makes VFs on real adapters.
bool wants_kernel_cmdline(const NodeClass& spec);

/// Address of a rail on the node at position `node`: the one given by hand, else pool + 1 + node. Host byte order.
std::uint32_t rail_address(const Rail& rail, std::size_t node);

/// By the place of the node in the inventory and of the rail in the class; some bits are the cluster's, so that two
/// clusters on one fabric differ. Of the locally administered kind.
std::uint64_t first_vf_guid(const std::string& cluster, std::size_t node, std::size_t rail);

/// Of the VF of this number; unique over the fleet. The MAC is the GUID without two of the cluster's bytes.
VfIdentity vf_identity(const DesiredRail& rail, int vf);

/// What a rail interface needs so that it alone answers for its addresses: arp_ignore=1, arp_announce=2. Keys as
/// sysctl(8) and sysctl.d take them: a dot in the interface's name is written '/'.
std::map<std::string, std::string> rail_sysctl(const std::string& netdev);

nlohmann::json to_json_value(const Desired& value);
Result<Desired> desired_from_json(const nlohmann::json& value);

}  // namespace fabricgate
