#pragma once
/// Which inventory node a launched process is on: told by the management address on an interface, never by the host name,
/// which may be wrong or double.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/record.hpp"

namespace fabricgate::launch {

/// IPv4 addresses of this network namespace.
std::vector<Cidr> local_addresses();

/// Nodes whose management address is one of `local`, in inventory order. All of 127.0.0.0/8 is local where the loopback
/// interface is. Names among the inventory's addresses are looked up.
std::vector<std::size_t> nodes_here(const Inventory& inventory, const std::vector<Cidr>& local);

/// The node this process acts for. With one rank per GPU the lowest local rank acts and the others idle (nullopt); when
/// one machine stands in for several nodes, local rank i acts for the i-th of them.
std::optional<std::size_t> node_of_process(const std::vector<std::size_t>& here, int local_rank);

/// The inventory file that a process was given by hand, where its node has one: empty otherwise.
struct InventoryCopy {
  std::string path, checksum;
};

/// What one process says of itself when a job begins.
struct Arrival {
  std::string node;      ///< inventory name, empty: idle or on no node of the inventory
  std::string hostname;  ///< as the kernel says
  std::vector<std::string> addresses;
  std::string build;
  int local_rank = 0;
  int pid = 0;
  std::string in_use;  ///< the run that has the node, empty: ours
  InventoryCopy copy = {};
};
std::string to_text(const Arrival& arrival);
Result<Arrival> arrival_from_text(const std::string& text);

/// Why a job cannot use some processes: who did not come, came twice, or is not known.
struct Roster {
  std::vector<std::string> host_of_rank;  ///< by rank, "" idle
  std::map<std::string, std::string> in_use;  ///< hosts that another run has, and which
  std::vector<std::string> absent;        ///< expected hosts that no process acts for
  std::vector<std::string> doubled;       ///< hosts two processes act for; the first counts
  std::vector<std::string> strangers;     ///< "host name (addresses)" on no node of the inventory
  std::vector<int> silent;                ///< ranks that did not report
  std::vector<std::string> other_build;   ///< hosts that run another binary
  std::vector<std::string> other_copy;    ///< machines whose file is not the inventory of the run
  std::string other_copy_path;            ///< of the first of them
};
/// `run`: the build and the inventory that count.
Roster make_roster(const std::vector<std::string>& expected, const std::vector<std::optional<Arrival>>& arrivals,
                   const RunIdentity& run);

}  // namespace fabricgate::launch
