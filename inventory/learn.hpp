#pragma once
/// A node class written from what one running node says of itself, so that nobody types rails, PCI addresses and GPU
/// affinity by hand; and how other nodes differ from it.
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "inventory/observe/facts.hpp"

namespace fabricgate {

/// Whether a rail may go over the interface: it is physical or carries an RDMA device; on machines without any PCI
/// interface (containers, emulated nodes) any Ethernet that is no bridge. Says nothing of the management network.
bool could_be_rail(const Facts& facts, const Netdev& netdev);

/// The class as YAML, to be put under `classes:` as it is (indented by two). Every interface that could be a rail and
/// is not the management network's is written as one, in PCI order, also while its cable is out: a class that a fault
/// made smaller would pass on a broken cluster. What the node cannot say reads CHANGE-ME, which no inventory may keep;
/// what is left out is named in comments with the reason. Pure.
std::string learn_class(const Facts& facts, const Cidr& management, const std::string& name);

/// Index of the GPU nearest to each device: same NUMA node first, then the smallest distance of PCI addresses, each GPU
/// once before any twice. -1 where there are no GPUs. GPUs count in PCI order.
std::vector<int> nearest_gpus(const Facts& facts, const std::vector<std::string>& pci_addresses);

/// What differs between two nodes of one class: "mtu of eth2: 9000, here 1500"; all that could be a rail is held
/// against the other's. Empty when they are alike. Names of hosts, addresses, counters and clocks are expected to
/// differ and left out.
std::vector<std::string> differences(const Facts& reference, const Facts& other);

}  // namespace fabricgate
