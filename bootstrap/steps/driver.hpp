#pragma once
/// The RDMA driver stack of a node as it is now, and, as pure functions of that, what brings the declared one.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

using CommandLine = std::vector<std::string>;

/// What stands in the way of an installation, seen beforehand; `cause` is of the catalogue.
struct Obstacle {
  std::string cause, file, expected, found;
};

/// A module that uses the stack and is not part of it, or a process that has an RDMA device open.
struct StackUser {
  std::string module;  ///< empty: a process
  std::string user;    ///< a mount, a controller, a process; "nobody" where it can be taken away
  bool busy = false;
};

struct SeenDriver {
  std::string manager;               ///< apt or dnf
  std::string installed;             ///< release of the declared source; empty: none
  std::string other;                 ///< release of MLNX_OFED where another source is declared
  std::vector<std::string> missing;  ///< packages; with a folder as bundle: files of it
  std::string repository;            ///< our file of package sources as it is now
  bool interrupted = false;          ///< dpkg was, and is to be finished first
  bool mounted = false;              ///< an image is still mounted from a run before
  std::vector<Obstacle> obstacles;   ///< looked for only where something is to be installed
  std::vector<std::string> stale;    ///< modules whose loaded code is not the installed one, each with both versions
  std::vector<StackUser> users;      ///< looked for only where something is stale or to be installed
  std::string guarded;               ///< why a restart would cut the way to this node; empty: it would not
  bool openibd = false;              ///< the stack's own script is there
  std::string gpudirect;             ///< what GPUDirect RDMA lacks; empty: nothing, or there is no GPU driver
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Obstacle, cause, file, expected, found)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StackUser, module, user, busy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SeenDriver, manager, installed, other, missing, repository, interrupted, mounted,
                                   obstacles, stale, users, guarded, openibd, gpudirect)

inline constexpr const char* openibd = "/etc/init.d/openibd";
/// Where a bundle is unpacked or mounted.
inline constexpr const char* bundle_folder = "/var/tmp/fabricgate-driver";

// What is installed (driver_source.cpp).

/// Fills manager, installed, other, missing, repository, interrupted, mounted, and obstacles with a folder of packages
/// that is not there or empty. Error: neither apt-get nor dnf.
Status see_installed(StepContext& context, SeenDriver& seen);
/// Something is to be installed, and declared so that it can be.
bool needs_install(const DriverSpec& driver, const SeenDriver& seen);
/// The declared release is not there, and there is nothing to install it from; empty: no such case.
std::string cannot_install(const DriverSpec& driver, const SeenDriver& seen);
/// In order. `cleanup` is run whatever happens; empty: nothing to clean up.
struct Installation {
  std::vector<CommandLine> commands;
  CommandLine cleanup;
};
Installation installation_of(const DriverSpec& driver, const SeenDriver& seen);
/// The file of package sources and what belongs in it; the path is empty where no repository is declared.
std::string repository_path(const SeenDriver& seen);
std::string repository_text(const DriverSpec& driver, const SeenDriver& seen);

// What stands in the way (driver_obstacles.cpp).

std::vector<Obstacle> see_obstacles(StepContext& context);

// What is loaded (driver_modules.cpp).

/// Fills stale, openibd, gpudirect.
void see_modules(StepContext& context, SeenDriver& seen);
/// Fills users and guarded.
void see_users(StepContext& context, SeenDriver& seen);

// Doing it (driver_install.cpp, driver_reload.cpp). Findings go to the context.

Status install_driver(StepContext& context, const SeenDriver& seen);
/// What is to be run so that the installed modules are the loaded ones; empty where that must not be done or is not
/// wanted: `forbidden_reload` says why.
std::vector<CommandLine> reload_commands(const DriverSpec& driver, const SeenDriver& seen);
std::vector<Finding> forbidden_reload(const Desired& desired, const SeenDriver& seen);
Status reload_driver(StepContext& context, const SeenDriver& seen);

}  // namespace fabricgate::bootstrap
