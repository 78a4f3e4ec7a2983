#pragma once
/// One node with one RDMA rail and a sample of it, for tests of the judges.
#include <functional>

#include "fabric/link/rdma_sample.hpp"
#include "inventory/inventory.hpp"
#include "suites/check.hpp"

namespace fabricgate::suites {

struct RdmaCase {
  Inventory inventory;
  Limits limits;
  fabric::RdmaSample sample;

  Record judged_as(const char* check) const {
    return judged({inventory, limits}, {.check = check, .hosts = {"gpu1"}, .rail = "rail0", .sample = to_json_value(sample)});
  }
};

/// A rail of 400 Gb/s on mlx5_0 that is good; `more` is added to the rail ("vfs: 2"), `of_class` to the class.
inline RdmaCase rdma_case(const std::string& link_layer, const std::string& more = "", const std::string& of_class = "") {
  RdmaCase out;
  const std::string text = "schema: 1\ncluster: { name: t, management_cidr: 10.0.0.0/24 }\nclasses:\n  box:\n    rails:\n"
                           "      - { netdev: ens1, device: mlx5_0, rate_gbps: 400, mtu: 4200, cidr: 172.16.0.0/16, link_layer: " +
                           link_layer + (more.empty() ? "" : ", " + more) + " }\n" + of_class +
                           "nodes:\n  - { hosts: gpu1, class: box, address: 10.0.0.1 }\n" +
                           (of_class.find("operator") == std::string::npos ? "" : "kubernetes: { context: admin }\n");
  auto loaded = parse_inventory(text, "case.yaml");
  if (loaded.inventory) out.inventory = std::move(*loaded.inventory);
  if (auto limits = parse_limits(default_limits_text(), "default.yaml", "default")) out.limits = std::move(*limits);
  const bool infiniband = link_layer == "infiniband";
  RdmaState& now = out.sample.now;
  out.sample.host = "gpu1";
  out.sample.rail = "rail0";
  out.sample.device = "mlx5_0";
  now = {.present = true, .devices = {"mlx5_0", "mlx5_1"}, .node_type = "CA", .netdevs = {"ens1"}};
  now.port = {.device = "mlx5_0", .netdev = "ens1", .state = "ACTIVE", .phys_state = "LinkUp", .rate = "400 Gb/sec (4X NDR)",
              .link_layer = infiniband ? "InfiniBand" : "Ethernet", .node_guid = "0200:5e00:5300:0001", .pci = "0000:18:00.0", .port = 1};
  if (infiniband) {
    now.port.lid = 30;
    now.port.sm_lid = 1;
    now.gids = {{0, "fe80:0000:0000:0000:0200:5e00:5300:0001", "IB/RoCE v1", ""}};
  } else {
    now.gids = {{0, "fe80:0000:0000:0000:0000:5eff:fe00:5301", "RoCE v2", "ens1"}, {5, "0000:0000:0000:0000:0000:ffff:ac10:0001", "RoCE v2", "ens1"}};
  }
  now.port.counters = {{"symbol_error", 3}, {"link_downed", 1}, {"port_rcv_errors", 0}};
  now.netdev_up = now.netdev_carrier = now.function_present = true;
  now.netdev_mtu = 4200;
  now.function = "0000:18:00.0";
  now.function_driver = "mlx5_core";
  now.read_unix_s = 1.75e9;
  return out;
}

/// "cause verdict" of every finding.
inline std::vector<std::string> told(const Record& record) {
  std::vector<std::string> out;
  for (const Finding& finding : record.findings) out.push_back(finding.cause + " " + to_string(finding.verdict));
  return out;
}

}  // namespace fabricgate::suites
