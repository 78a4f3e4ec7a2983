#include <nlohmann/json.hpp>

#include "inventory/observe/facts.hpp"
#include "inventory/observe/rdma.hpp"
#include "results/json_text.hpp"

namespace fabricgate {

// One list of members per type serves both directions; every key is required when reading.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PciDevice, address, vendor, device, device_class, driver, link_speed, link_width,
                                   max_link_speed, max_link_width, path_speed, path_width, numa_node, vfs_total, vfs,
                                   physical_function, above)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Netdev, name, mac, operstate, driver, pci, admin_up, carrier, speed_mbps, mtu,
                                   addresses, carrier_changes, counters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RdmaPort, device, netdev, state, phys_state, rate, link_layer, node_guid, pci, port,
                                   lid, sm_lid, counters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, hostname, machine_id, boot_id, os_id, os_version, kernel, architecture,
                                   cpu_model, cpus, numa_nodes, memory_bytes, memlock_soft_bytes, memlock_hard_bytes,
                                   pci, netdevs, rdma_ports, gpus, modules, sysctl, routes, versions, ssh_interface,
                                   gpu_processes, network_mounts, clock_unix_s, free_bytes, unread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Gid, index, gid, type, netdev)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VirtualFunction, pci, driver, netdev, mac, admin_up, carrier, mtu, device, node_guid,
                                   port_guid, state, phys_state, lid, sm_lid, policy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RdmaState, present, devices, port, node_type, software, netdevs, gids, netdev_up,
                                   netdev_carrier, netdev_mtu, function, function_present, function_driver, vfs_total,
                                   vfs, virtual_functions, read_unix_s)

namespace {

/// Every number but a time is a whole one; as a fraction it would be cut, or have no defined conversion (1e18).
void refuse_fractions(const nlohmann::json& value) {
  for (auto entry = value.begin(); value.is_structured() && entry != value.end(); ++entry) {
    refuse_fractions(*entry);
    if (!entry->is_number_float()) continue;
    const std::string key = value.is_object() ? entry.key() : "";
    if (!key.ends_with("_s")) throw nlohmann::json::type_error::create(302, key + ": " + entry->dump() + " is no whole number", &value);
  }
}

}  // namespace

nlohmann::json to_json_value(const Facts& facts) {
  return facts;
}

Result<Facts> facts_from_json(const nlohmann::json& value) {
  try {
    refuse_fractions(value);
    return value.get<Facts>();
  } catch (const nlohmann::json::exception& e) {
    return Error{ErrorKind::parse, "facts: " + plain_text(e), e.id};
  }
}

nlohmann::json to_json_value(const RdmaState& state) {
  return state;
}

Result<RdmaState> rdma_state_from_json(const nlohmann::json& value) {
  try {
    refuse_fractions(value);
    return value.get<RdmaState>();
  } catch (const nlohmann::json::exception& e) {
    return Error{ErrorKind::parse, "RDMA state: " + plain_text(e), e.id};
  }
}

}  // namespace fabricgate
