#pragma once
/// A node class written from what one running node says of itself, so that nobody types rails, PCI addresses and GPU
/// affinity by hand; and how other nodes differ from it.
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "inventory/observe/facts.hpp"

namespace fabricgate {

/// The class as YAML, to be put under `classes:` as it is (indented by two). Rails are the physical interfaces outside
/// the management network that have a carrier or an RDMA device, in PCI order; what is left out is named in comments
/// with the reason, what cannot be known reads CHANGE-ME. Pure.
std::string learn_class(const Facts& facts, const Cidr& management, const std::string& name);

/// Index of the GPU nearest to each device: same NUMA node first, then the smallest distance of PCI addresses, each GPU
/// once before any twice. -1 where there are no GPUs. GPUs count in PCI order.
std::vector<int> nearest_gpus(const Facts& facts, const std::vector<std::string>& pci_addresses);

/// What differs between two nodes of one class: "mtu of eth2: 9000, here 1500". Empty when they are alike. Names of
/// hosts, addresses, counters and clocks are expected to differ and left out.
std::vector<std::string> differences(const Facts& reference, const Facts& other);

}  // namespace fabricgate
