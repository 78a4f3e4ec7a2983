#pragma once
/// What must be so on the head before anything is started: the launcher and ssh are there, files enough can be opened, and no
/// setting of the person's own changes the line that we make.
#include <string>

#include "inventory/inventory.hpp"
#include "launch/mpirun.hpp"

namespace fabricgate::launch {

/// What to do about an mpirun that does not start.
inline constexpr const char* get_mpirun = "install Open MPI 4 or 5 on this machine, or set launcher.mpi_prefix to where it is";

struct Head {
  std::string mpirun;
  MpirunVersion version;
};

/// Raises the limit of open files and takes MCA variables out of the environment, which is said. Error: which of these is not
/// so, why, and what to do.
Result<Head> prepare_head(const Inventory& inventory);

}  // namespace fabricgate::launch
