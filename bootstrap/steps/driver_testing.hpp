#pragma once
/// A node for the tests of the driver step: package managers, installer and init script are stand-ins that replay what
/// the real ones printed (testdata/driver).
#include "bootstrap/steps/step_testing.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap::testing {

inline const std::string bundle_sha256(64, 'a');

inline std::string transcript(const std::string& name) {
  auto text = read_file(std::string(TESTDATA) + "/driver/" + name);
  EXPECT_TRUE(text) << name;
  return text ? *text : "";
}

inline Desired wants_driver(const std::string& source) {
  Desired out;
  out.node = "n1";
  out.driver = {.owner = Owner::host, .source = source};
  if (source == "mlnx-ofed") {
    out.driver.version = "24.10-1.1.4.0";
    out.driver.bundle = "/srv/MLNX_OFED_LINUX-24.10-1.1.4.0-ubuntu22.04-x86_64.tgz";
    out.driver.sha256 = bundle_sha256;
  }
  return out;
}

class DriverNode : public FakeHost {
 public:
  explicit DriverNode(const std::string& package_program = "/usr/bin/apt-get") {
    files[package_program] = "";
    files["/srv/MLNX_OFED_LINUX-24.10-1.1.4.0-ubuntu22.04-x86_64.tgz"] = "";
    changing = [](const auto& a) { return changes(a); };
    on_run = [this](const auto& a) { return answer(a); };
  }

  std::string release;                           ///< of MLNX_OFED that is installed
  std::map<std::string, std::string> installed;  ///< packages, with versions
  std::string sum = bundle_sha256, enrolled;
  CommandResult installer{0, transcript("mlnxofedinstall_ok.txt"), ""};
  CommandResult install{0, "", ""}, restart{0, transcript("openibd_ok.txt"), ""};
  std::string available = "44.0-2";  ///< version of packages that get installed

  /// A module that is loaded, and its file.
  void module(const std::string& name, const std::string& loaded, const std::string& in_file) {
    files["/sys/module/" + name + "/version"] = loaded + "\n";
    in_files[name] = in_file;
  }
  /// The stack of the distribution runs, and openibd is there.
  void runs_inbox_with_openibd() {
    files["/etc/init.d/openibd"] = "";
    for (const char* name : {"mlx5_core", "mlx5_ib"}) module(name, "", "");
  }
  std::map<std::string, std::string> in_files;

 private:
  static bool changes(const std::vector<std::string>& a) {
    for (const char* program :
         {"apt-get", "dnf", "dpkg", "tar", "mkdir", "rm", "mount", "umount", "/etc/init.d/openibd"})
      if (a[0] == program) return true;
    return a[0] == "modprobe" || a[0] == "systemd-run" || a[0].find("mlnxofedinstall") != std::string::npos;
  }

  CommandResult versions() const {
    std::string out;
    for (const auto& [name, version] : installed) out += name + " installed " + version + "\n";
    return {1, out, "dpkg-query: no packages found\n"};
  }

  CommandResult modinfo(const std::string& name) const {
    const auto found = in_files.find(name);
    if (found == in_files.end()) return {1, "", "modinfo: ERROR: Module " + name + " not found.\n"};
    return {0, "filename:       /lib/modules/x.ko\nversion:        " + found->second + "\n", ""};
  }

  CommandResult install_packages(const std::vector<std::string>& a) {
    if (install.exit_code != 0) return install;
    for (std::size_t i = 4; i < a.size(); ++i) {
      const std::string file = a[i].substr(a[i].rfind('/') + 1);
      installed[file.substr(0, file.find('_'))] = available;
    }
    return install;
  }

  CommandResult run_installer() {
    if (installer.exit_code != 0 || installer.out.find("No space") != std::string::npos) return installer;
    release = "24.10-1.1.4.0";
    for (auto& [name, version] : in_files) version = "24.10-1.1.4";
    return installer;
  }

  CommandResult run_restart() {
    if (restart.exit_code == 0)
      for (const auto& [name, version] : in_files) files["/sys/module/" + name + "/version"] = version + "\n";
    return restart;
  }

  std::optional<CommandResult> answer(const std::vector<std::string>& a) {
    if (a[0] == "ofed_info") {
      if (release.empty()) return std::nullopt;
      return CommandResult{0, "MLNX_OFED_LINUX-" + release + ":\n", ""};
    }
    if (a[0] == "dpkg-query" || a[0] == "rpm") return versions();
    if (a[0] == "modinfo") return modinfo(a[1]);
    if (a[0] == "sha256sum") return CommandResult{0, sum + "  " + a[1] + "\n", ""};
    if (a[0] == "stat") return CommandResult{0, "1000000000\n", ""};
    if (a[0] == "mokutil") return CommandResult{0, enrolled, ""};
    if (a[0].find("mlnxofedinstall") != std::string::npos) return run_installer();
    if (a.back() == "restart") return run_restart();
    if (a[0] == "modprobe" && a[1] == "-r") files.erase("/sys/module/" + a[2] + "/refcnt");
    if ((a[0] == "apt-get" || a[0] == "dnf") && a[1] == "install") return install_packages(a);
    if (changes(a)) return CommandResult{0, "", ""};
    return std::nullopt;
  }
};

}  // namespace fabricgate::bootstrap::testing
