#pragma once
/// The mpirun line of one job, as an argument list: a pure function of what was decided before. Open MPI 4 and 5 (PRRTE)
/// name the same settings differently.
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "launch/ports.hpp"
#include "results/result.hpp"

namespace fabricgate::launch {

struct MpirunVersion {
  int major = 0, minor = 0, release = 0;
};

/// From the output of `mpirun --version`; an Error names a launcher that is not Open MPI 4 or 5.
Result<MpirunVersion> parse_mpirun_version(const std::string& text);

/// The launcher of launcher.mpi_prefix where this machine has it, so that both sides are of one installation; else, and for
/// /usr (where nodes go by their PATH too), "mpirun".
std::string mpirun_program(const std::string& prefix);

struct MpirunJob {
  MpirunVersion version;
  std::string mpirun = "mpirun";
  std::string prefix = "/usr";  ///< Open MPI on the nodes; passed on when it is not /usr
  std::string hostfile;
  std::string ssh_script;       ///< file with ssh_script: daemons are started through it; empty: by ssh itself
  std::string session_dir;      ///< where Open MPI keeps its session files, empty: its default
  Cidr management;
  std::string ports;            ///< "20000-20999" or empty
  PortRange launcher_ports;     ///< of them for the launcher's own connections; low 0: the whole part
  bool as_root = false;
  int nodes = 0;
  std::vector<std::string> program;  ///< what each node runs
};

/// What mpirun runs as `sh FILE HOST COMMAND…` to get to a node: ssh, and then a line that says how it ended, because mpirun
/// does not say where a daemon failed to start. The line is read by ssh_end_from_line of inventory/logs.
std::string ssh_script(const std::string& config);

/// Whether mpirun can be given files below the folder: it splits what starts daemons at blanks, Open MPI 5 hostfiles at
/// commas, and hands the path on to a shell of each node between double quotes. Error (parse) names the path and the character.
Status check_mpirun_path(const std::string& path);

std::vector<std::string> mpirun_arguments(const MpirunJob& job);

/// The line as a person could type it into a shell.
std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace fabricgate::launch
