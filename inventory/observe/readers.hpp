#pragma once
/// Readers of one area each. What could not be read is added to `unread` as "area: error".
#include "inventory/observe/facts.hpp"

namespace fabricgate::readers {

using Unread = std::vector<std::string>;

/// Content without blanks around it, empty when it cannot be read: for attributes that may be missing.
std::string read_attribute(Host& host, const std::string& path);
/// The same as a number.
std::int64_t read_number(Host& host, const std::string& path, std::int64_t otherwise);
/// Every numeric file of a folder.
std::map<std::string, std::int64_t> read_counters(Host& host, const std::string& folder);
/// Last component of a link's target, empty when there is none.
std::string link_name(Host& host, const std::string& path);
/// PCI addresses along the real path of a sysfs link, from the root down.
std::vector<std::string> pci_path(Host& host, const std::string& link);

std::vector<PciDevice> read_pci(Host& host, Unread& unread);
std::vector<Netdev> read_netdevs(Host& host, Unread& unread);
std::vector<RdmaPort> read_rdma_ports(Host& host);
std::map<std::string, std::string> read_versions(Host& host, const std::vector<std::string>& prefixes,
                                                 Deadline deadline);
/// Processes with an open GPU device file, without daemons of the driver and without the job this process belongs to.
std::vector<std::string> read_gpu_processes(Host& host);
/// Of the files that begin with one of these and are open somewhere: one process that has each, as "pid name".
std::map<std::string, std::string> read_file_holders(Host& host, const std::vector<std::string>& starts);
/// Interface whose address the SSH server of this process, or of one of its parents, was reached at; empty: no SSH.
std::string read_ssh_interface(Host& host);
/// /proc/sys of "net.core.rmem_max"; a slash in the key stands for a dot in a name.
std::string sysctl_path(const std::string& key);

}  // namespace fabricgate::readers
