#pragma once
/// What differs between apt and dnf, and the reading of what they say. Pure, except for the search for a lock's holder.
#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

struct PackageManager {
  std::string name;                               ///< apt or dnf
  std::vector<std::string> query;                 ///< followed by the package names
  std::vector<std::vector<std::string>> prepare;  ///< run before the installation; a failure alone is no error
  std::vector<std::string> install;               ///< followed by the package names
  std::vector<std::string> repair;                ///< finishes an interrupted run
  std::vector<std::string> locks;                 ///< files a running package manager holds open
};

/// Null when the machine has neither.
const PackageManager* package_manager(Host& host);
/// By PackageManager::name; apt for any other name.
const PackageManager& package_manager_named(const std::string& name);

/// Names of `output` of the query that are fully installed: "name state" lines of dpkg-query, bare names of rpm.
std::vector<std::string> parse_installed(const PackageManager& manager, const std::string& output);

/// Cause of the catalogue that the output of a failed run speaks of, empty when none is recognised. The first cause,
/// not its echo: packages are unknown because their source was not reached, not the other way round.
std::string classify_failure(const std::string& output);

/// "812 unattended-upgr": a process that holds one of the lock files open; empty when there is none.
std::string lock_holder(Host& host, const PackageManager& manager);

}  // namespace fabricgate::bootstrap
