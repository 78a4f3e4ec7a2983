#pragma once
/// Node lists of launchers: read and written, refusing what a launcher would silently get wrong.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/finding.hpp"

namespace fabricgate {

enum class HostfileFormat {
  open_mpi,  ///< host [slots=N] [max_slots=N], one a line; # comments
  hydra,     ///< host[:N], one a line; # comments
  slurm      ///< gpu[001-064,070],login1 as in SLURM_JOB_NODELIST; or lines SLURM_JOB_NODELIST=… and
             ///< SLURM_TASKS_PER_NODE=4(x3),2 as `env | grep ^SLURM_` prints them in an allocation
};
std::optional<HostfileFormat> parse_hostfile_format(std::string_view text);
/// By content: SLURM_…=, a comma or a bracket means slurm, host:N hydra, else open_mpi.
HostfileFormat guess_hostfile_format(std::string_view text);

/// One host with all its mentions added up.
struct HostSlots {
  std::string name;
  int slots = 0;             ///< a mention without slots counts one
  bool slots_given = false;  ///< some mention had slots
  int max_slots = 0;         ///< 0: none
  int line = 0;              ///< of the first mention
};

/// In order of first mention. Kind parse: every problem as file:line: what, one per line; among them repeated slots= on
/// one line, equal short names (launch.hostname_collision), IPv6 addresses, unknown keys, no host at all.
Result<std::vector<HostSlots>> read_hostfile(const std::string& text, const std::string& file, HostfileFormat format);

/// For mpirun -hostfile: node names with slots, in rank order. The names are made known to ssh by write_ssh_config.
/// Kind parse for equal short names, IPv6 addresses and slots that are neither 1 nor the GPUs.
Result<std::string> write_hostfile(const Inventory& inventory);

/// For `ssh -F`: maps each node name (and its short name, which Open MPI makes of it) to its management address. Host
/// keys are looked up by that address, `[address]:port` where the port is not 22; strict, never asks, no shared
/// connections.
std::string write_ssh_config(const Inventory& inventory);

/// A hostfile written by hand against the inventory: launch.hostfile_invalid for unknown and missing nodes and for
/// slots that are neither 1 nor the GPUs of the node.
std::vector<Finding> compare_hostfile(const Inventory& inventory, const std::vector<HostSlots>& hosts,
                                      const std::string& file);

/// An inventory to be filled in: hosts folded, one class per number of slots, CHANGE-ME where a person must decide (it
/// does not load before).
std::string import_inventory(const std::vector<HostSlots>& hosts, const std::string& file);

}  // namespace fabricgate
