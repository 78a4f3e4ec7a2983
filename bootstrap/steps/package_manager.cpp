#include "bootstrap/steps/package_manager.hpp"

#include <algorithm>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

const PackageManager apt{
    .name = "apt",
    .query = {"dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"},
    .prepare = {{"apt-get", "update"}},
    .install = {"apt-get", "install", "-y", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold"},
    .repair = {"dpkg", "--configure", "-a"},
    .locks = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock",
              "/var/cache/apt/archives/lock"}};

// exit_on_lock: dnf would otherwise wait for ever without a word to a pipe
const PackageManager dnf{.name = "dnf",
                         .query = {"rpm", "-q", "--qf", "%{NAME}\n"},
                         .prepare = {},
                         .install = {"dnf", "install", "-y", "--setopt=exit_on_lock=True"},
                         .repair = {},
                         .locks = {"/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock",
                                   "/var/lib/dnf/rpmdb_lock.pid", "/var/cache/dnf/metadata_lock.pid"}};

struct Phrase {
  const char *text, *cause;
};

// In order of what comes first in the world: a lock stops everything, no space and no network make the rest fail.
constexpr Phrase phrases[] = {{"Could not get lock", "stage.package_lock"},
                              {"Unable to acquire the dpkg frontend lock", "stage.package_lock"},
                              {"Unable to lock directory", "stage.package_lock"},
                              {"frontend lock was locked by another process", "stage.package_lock"},
                              {"dpkg status database is locked", "stage.package_lock"},
                              {"can't create transaction lock", "stage.package_lock"},
                              {"Failed to obtain the transaction lock", "stage.package_lock"},
                              {"Existing lock", "stage.package_lock"},
                              {"Waiting for process with pid", "stage.package_lock"},
                              {"No space left on device", "stage.disk_full"},
                              {"don't have enough free space", "stage.disk_full"},
                              {"more space needed on", "stage.disk_full"},
                              {"Temporary failure resolving", "stage.repo_unreachable"},
                              {"Could not resolve", "stage.repo_unreachable"},
                              {"Could not connect to", "stage.repo_unreachable"},
                              {"Cannot initiate the connection", "stage.repo_unreachable"},
                              {"Connection timed out", "stage.repo_unreachable"},
                              {"Failed to fetch", "stage.repo_unreachable"},
                              {"Failed to download metadata", "stage.repo_unreachable"},
                              {"Cannot download repomd.xml", "stage.repo_unreachable"},
                              {"Curl error", "stage.repo_unreachable"},
                              {"Unable to locate package", "host.package_missing"},
                              {"has no installation candidate", "host.package_missing"},
                              {"No match for argument", "host.package_missing"},
                              {"Unable to find a match", "host.package_missing"}};

}  // namespace

const PackageManager* package_manager(Host& host) {
  if (host.exists("/usr/bin/apt-get")) return &apt;
  if (host.exists("/usr/bin/dnf")) return &dnf;
  return nullptr;
}

const PackageManager& package_manager_named(const std::string& name) {
  return name == dnf.name ? dnf : apt;
}

std::vector<std::string> parse_installed(const PackageManager& manager, const std::string& output) {
  std::vector<std::string> out;
  for (const std::string& line : readers::lines_of(output)) {
    const auto words = readers::words_of(line);
    if (manager.name == "apt" && words.size() == 2 && words[1] == "installed") out.push_back(words[0]);
    if (manager.name == "dnf" && words.size() == 1) out.push_back(words[0]);  // others say "package x is not installed"
  }
  return out;
}

std::string classify_failure(const std::string& output) {
  for (const Phrase& phrase : phrases)
    if (output.find(phrase.text) != std::string::npos) return phrase.cause;
  return "";
}

std::string lock_holder(Host& host, const PackageManager& manager) {
  auto processes = host.list("/proc");
  if (!processes) return "";
  for (const std::string& pid : *processes) {
    if (!readers::to_integer(pid)) continue;
    auto files = host.list("/proc/" + pid + "/fd");
    if (!files) continue;
    for (const std::string& fd : *files) {
      auto target = host.read_link("/proc/" + pid + "/fd/" + fd);
      if (target && std::find(manager.locks.begin(), manager.locks.end(), *target) != manager.locks.end())
        return pid + " " + readers::read_attribute(host, "/proc/" + pid + "/comm");
    }
  }
  return "";
}

}  // namespace fabricgate::bootstrap
