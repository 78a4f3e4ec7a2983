#include "launch/gate/head.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bootstrap/ssh/descriptors.hpp"
#include "inventory/host/real_host.hpp"
#include "launch/mpi/environment.hpp"
#include "launch/programs.hpp"
#include "results/log.hpp"

namespace fabricgate::launch {
namespace {

/// mpirun itself finds sh and ssh by PATH.
Status find_programs(const std::string& mpirun) {
  for (const auto& [name, remedy] :
       {std::pair<std::string, const char*>{mpirun, get_mpirun}, {"sh", "have it in PATH"}, {"ssh", "install an OpenSSH client on this machine"}})
    if (name.find('/') == std::string::npos)
      if (auto found = program_in_path(name, remedy); !found) return found.error();
  return {};
}

Result<MpirunVersion> version_of(const std::string& mpirun) {
  RealHost host;
  const auto answer = host.run({mpirun, "--version"}, Deadline::in_seconds(20));
  if (!answer) return Error{answer.error().kind, answer.error().what + "; " + get_mpirun, answer.error().native};
  return parse_mpirun_version(answer->out);
}

}  // namespace

Result<Head> prepare_head(const Inventory& inventory) {
  if (const auto dropped = drop_mca_variables(); !dropped.empty())
    log::warn(fmt::format("left out, since they would change the mpirun line of this run: {}", fmt::join(dropped, ", ")));
  if (auto allowed = bootstrap::allow_descriptors(inventory.nodes.size()); !allowed) return allowed.error();
  const std::string mpirun = mpirun_program(inventory.launcher.mpi_prefix);
  if (auto found = find_programs(mpirun); !found) return found.error();
  const auto version = version_of(mpirun);
  if (!version) return version.error();
  return Head{mpirun, *version};
}

}  // namespace fabricgate::launch
