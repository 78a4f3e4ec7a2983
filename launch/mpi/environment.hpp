#pragma once
/// What must be in the environment before MPI_Init, so that MPI itself stays off the wire under test even when a person
/// typed the mpirun line.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

/// True when a launcher (Open MPI 4 or 5) started this process. Its variables alone are no sign of that, since they stay in
/// an environment that was saved or passed on: the launcher's daemon that they name must be there. Error (unavailable) when
/// it is not; it says what to unset.
Result<bool> started_by_mpirun();
/// Rank and size as the launcher's environment says, before MPI_Init; {0, 1} alone.
struct LaunchPlace {
  int rank = 0, size = 1, local_rank = 0;
};
LaunchPlace launch_place();

/// MCA parameters (without the OMPI_MCA_ prefix) every job of ours runs under. Without `management` the interface choice is
/// left out.
std::map<std::string, std::string> mpi_parameters(const std::optional<Cidr>& management);

/// Puts mpi_parameters, and what UCX must have from there, into the environment, over what is there.
void set_mpi_environment(const std::optional<Cidr>& management);

/// Takes OMPI_MCA_*, PMIX_MCA_* and PRTE_MCA_* out of our environment and so of what we start: they go before the settings
/// of an mpirun line that does not name them. Returns their names in order.
std::vector<std::string> drop_mca_variables();

/// The network of the address that SSH brought us in by (SSH_CONNECTION is inherited through the launcher's daemon), for
/// ranks that cannot read the inventory before MPI is up.
std::optional<Cidr> management_from_ssh();

}  // namespace fabricgate::launch
