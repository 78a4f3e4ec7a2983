// What is installed of the declared driver source, and the commands that bring the rest.
#include <algorithm>

#include "bootstrap/steps/driver.hpp"
#include "bootstrap/steps/package_manager.hpp"
#include "inventory/logs/driver_log.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

CommandLine with(CommandLine words, const CommandLine& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

CommandLine wanted_packages(const DriverSpec& driver, const std::string& manager) {
  if (!driver.packages.empty()) return driver.packages;
  if (driver.source == "doca-host") return {"doca-ofed"};
  if (manager == "apt") return {"rdma-core", "ibverbs-providers", "ibverbs-utils"};
  return {"rdma-core", "libibverbs", "libibverbs-utils"};
}

/// By name: the installed version.
std::map<std::string, std::string> installed_versions(StepContext& context, const std::string& manager,
                                                      const CommandLine& names) {
  const CommandLine query = manager == "apt"
                                ? CommandLine{"dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\n"}
                                : CommandLine{"rpm", "-q", "--qf", "%{NAME} installed %{VERSION}-%{RELEASE}\n"};
  std::map<std::string, std::string> out;
  auto answer = context.host.run(with(query, names), context.deadline.at_most(30));
  if (!answer) return out;
  for (const std::string& line : readers::lines_of(answer->out)) {
    const auto words = readers::words_of(line);
    if (words.size() == 3 && words[1] == "installed") out[words[0]] = words[2];
  }
  return out;
}

/// 24.10-1.1.4 is the release 24.10-1.1.4.0 too. DOCA writes its build behind the release: 3.0.0-058000, 2.9.1018-1.
bool same_release(const std::string& wanted, const std::string& found) {
  if (found.rfind(wanted, 0) != 0) return false;
  const std::string rest = found.substr(wanted.size());
  return rest.empty() || rest.find_first_of(".-+~") == 0 || rest.find('-') == 3;
}

/// "rdma-core_44.0-2_amd64.deb" → rdma-core; "rdma-core-44.0-2.el9.x86_64.rpm" → rdma-core
std::string package_of(const std::string& file) {
  if (ends_with(file, ".deb")) return file.substr(0, file.find('_'));
  const auto release = file.rfind('-');
  return release == std::string::npos ? file : file.substr(0, file.rfind('-', release - 1));
}

void see_folder(StepContext& context, SeenDriver& seen) {
  const std::string& folder = context.desired.driver.bundle;
  const std::string end = seen.manager == "apt" ? ".deb" : ".rpm";
  auto files = context.host.list(folder);
  if (files) std::erase_if(*files, [&](const std::string& file) { return !ends_with(file, end); });
  if (!files || files->empty()) {
    seen.obstacles.push_back(
        {"driver.bundle_missing", folder, "a folder with *" + end, files ? "no such file in it" : files.error().what});
    return;
  }
  CommandLine names;
  for (const std::string& file : *files) names.push_back(package_of(file));
  const auto installed = installed_versions(context, seen.manager, names);
  for (const std::string& file : *files)
    if (installed.count(package_of(file)) == 0) seen.missing.push_back(folder + "/" + file);
}

void see_packages(StepContext& context, SeenDriver& seen) {
  const DriverSpec& driver = context.desired.driver;
  const CommandLine names = wanted_packages(driver, seen.manager);
  const auto installed = installed_versions(context, seen.manager, names);
  for (const std::string& name : names) {
    const auto found = installed.find(name);
    const bool versioned = driver.source == "doca-host" && !driver.version.empty() && name.rfind("doca", 0) == 0;
    if (found == installed.end() || (versioned && !same_release(driver.version, found->second)))
      seen.missing.push_back(name);
    else if (seen.installed.empty() && found != installed.end())
      seen.installed = found->second;
  }
}

CommandLine unpack_command(const std::string& bundle) {
  return {"tar", "-xf", bundle, "-C", bundle_folder, "--strip-components=1"};
}

Installation from_archive(const DriverSpec& driver, const SeenDriver& seen) {
  const bool image = ends_with(driver.bundle, ".iso");
  Installation out;
  if (image && !seen.mounted)
    out.commands = {{"mkdir", "-p", bundle_folder}, {"mount", "-o", "ro,loop", driver.bundle, bundle_folder}};
  if (!image)
    out.commands = {{"rm", "-rf", "--one-file-system", bundle_folder},
                    {"mkdir", "-p", bundle_folder},
                    unpack_command(driver.bundle)};
  out.commands.push_back(with({std::string(bundle_folder) + "/mlnxofedinstall", "--force"}, driver.flags));
  out.cleanup =
      image ? CommandLine{"umount", bundle_folder} : CommandLine{"rm", "-rf", "--one-file-system", bundle_folder};
  return out;
}

Installation from_packages(const DriverSpec& driver, const SeenDriver& seen) {
  const PackageManager& manager = package_manager_named(seen.manager);
  const bool folder = driver.source == "inbox" && !driver.bundle.empty();
  Installation out;
  if (seen.interrupted) out.commands.push_back(manager.repair);
  if (driver.source == "doca-host" && !driver.bundle.empty())
    out.commands.push_back(seen.manager == "apt" ? CommandLine{"dpkg", "-i", driver.bundle}
                                                 : CommandLine{"rpm", "-U", "--replacepkgs", driver.bundle});
  if (!folder) out.commands.insert(out.commands.end(), manager.prepare.begin(), manager.prepare.end());
  out.commands.push_back(with(manager.install, seen.missing));
  return out;
}

}  // namespace

Status see_installed(StepContext& context, SeenDriver& seen) {
  const DriverSpec& driver = context.desired.driver;
  for (const std::string& name : driver.packages)
    if (name.empty() || name.front() == '-')
      return Error{ErrorKind::parse, "driver: '" + name + "' is not the name of a package", 0};
  const PackageManager* manager = package_manager(context.host);
  if (!manager) return Error{ErrorKind::unavailable, "driver: neither apt-get nor dnf on this node", 0};
  seen.manager = manager->name;
  std::string release;
  if (auto info = context.host.run({"ofed_info", "-s"}, context.deadline.at_most(30)))
    release = mlnx_ofed_release(info->out);
  (driver.source == "mlnx-ofed" ? seen.installed : seen.other) = release;
  auto unfinished = context.host.list("/var/lib/dpkg/updates");
  seen.interrupted = seen.manager == "apt" && unfinished && !unfinished->empty();
  if (auto mounts = context.host.read("/proc/mounts"))
    seen.mounted = mounts->find(std::string(" ") + bundle_folder + " ") != std::string::npos;
  if (driver.source == "mlnx-ofed") return {};
  if (auto file = context.host.read(repository_path(seen))) seen.repository = *file;
  driver.source == "inbox" && !driver.bundle.empty() ? see_folder(context, seen) : see_packages(context, seen);
  return {};
}

bool needs_install(const DriverSpec& driver, const SeenDriver& seen) {
  if (driver.source == "mlnx-ofed")
    return !driver.bundle.empty() && (seen.installed.empty() || !same_release(driver.version, seen.installed));
  return seen.other.empty() && !seen.missing.empty();
}

std::string cannot_install(const DriverSpec& driver, const SeenDriver& seen) {
  if (!seen.other.empty()) return "MLNX_OFED " + seen.other + ", which must be taken away first: ofed_uninstall.sh";
  if (driver.source != "mlnx-ofed" || needs_install(driver, seen)) return "";
  if (seen.installed.empty()) return "none, and no bundle is declared";
  if (!driver.version.empty() && !same_release(driver.version, seen.installed))
    return seen.installed + ", and no bundle is declared";
  return "";
}

Installation installation_of(const DriverSpec& driver, const SeenDriver& seen) {
  return driver.source == "mlnx-ofed" ? from_archive(driver, seen) : from_packages(driver, seen);
}

std::string repository_path(const SeenDriver& seen) {
  return seen.manager == "apt" ? "/etc/apt/sources.list.d/fabricgate-doca.list"
                               : "/etc/yum.repos.d/fabricgate-doca.repo";
}

std::string repository_text(const DriverSpec& driver, const SeenDriver& seen) {
  if (driver.repository.empty()) return "";
  if (seen.manager == "apt")
    return file_header + ("deb [signed-by=" + driver.repository_key + "] " + driver.repository + " ./\n");
  return file_header + ("[fabricgate-doca]\nname=DOCA\nbaseurl=" + driver.repository +
                        "\nenabled=1\ngpgcheck=1\ngpgkey=file://" + driver.repository_key + "\n");
}

}  // namespace fabricgate::bootstrap
