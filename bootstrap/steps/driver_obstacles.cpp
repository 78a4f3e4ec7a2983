// What would make an installation fail half-way, looked for before it begins.
#include <algorithm>

#include "bootstrap/steps/driver.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using readers::read_attribute;

// "Required disk space for installation: 1GB", release notes of MLNX_OFED
constexpr std::int64_t least_space = std::int64_t{1} << 30;

/// EFI variables are four bytes of attributes and the value.
bool secure_boot(Host& host) {
  auto value = host.read("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
  return value && value->size() == 5 && (*value)[4] == 1;
}

/// Why the kernel takes signed modules only; empty where it takes any.
std::string signatures_demanded(Host& host) {
  if (secure_boot(host)) return "secure boot is on";
  const std::string lockdown =
      read_attribute(host, "/sys/kernel/security/lockdown");  // "none [integrity] confidentiality"
  if (!lockdown.empty() && lockdown.find("[none]") == std::string::npos) return "kernel lockdown: " + lockdown;
  if (read_attribute(host, "/sys/module/module/parameters/sig_enforce") == "Y") return "module.sig_enforce is on";
  return "";
}

/// A key that the vendor or DKMS signs modules with is enrolled. Names as in their certificates.
bool signing_key_enrolled(StepContext& context) {
  auto keys = context.host.run({"mokutil", "--list-enrolled"}, context.deadline.at_most(30));
  if (!keys) return false;
  for (const char* name : {"Mellanox", "NVIDIA", "DKMS module signing key", "Secure Boot Module Signature key"})
    if (keys->out.find(name) != std::string::npos) return true;
  return false;
}

void see_signatures(StepContext& context, std::vector<Obstacle>& out) {
  if (context.desired.driver.source == "inbox") return;  // modules are the kernel package's own
  const std::string demanded = signatures_demanded(context.host);
  if (!demanded.empty() && !signing_key_enrolled(context))
    out.push_back({"driver.module_unsigned", "", "a key of the vendor or of DKMS among the enrolled ones",
                   demanded + ", and mokutil lists no such key"});
}

/// Size and checksum of what comes as one file; 0 where it is not there or not what it should be.
std::int64_t see_bundle(StepContext& context, std::vector<Obstacle>& out) {
  const DriverSpec& driver = context.desired.driver;
  if (!context.host.exists(driver.bundle)) {
    out.push_back(
        {"driver.bundle_missing", driver.bundle, "the bundle of " + driver.source, "no such file on this node"});
    return 0;
  }
  auto sum = context.host.run({"sha256sum", driver.bundle}, context.deadline.at_most(300));
  const std::string found = sum ? sum->out.substr(0, sum->out.find_first_of(" \n")) : sum.error().what;
  if (found != driver.sha256) {
    const std::string why = found.empty() && sum ? readers::trim(sum->err) : found;
    out.push_back({"stage.upload_truncated", driver.bundle, "sha256 " + driver.sha256, why});
    return 0;
  }
  auto size = context.host.run({"stat", "-c", "%s", driver.bundle}, context.deadline.at_most(10));
  return size ? readers::to_integer(readers::trim(size->out)).value_or(0) : 0;
}

void see_space(Host& host, std::int64_t bundle, std::vector<Obstacle>& out) {
  for (const auto& [path, least] :
       {std::pair<const char*, std::int64_t>{"/var/tmp", 2 * bundle}, {"/usr", least_space}, {"/tmp", least_space}})
    if (auto space = host.free_bytes(path); space && *space < least)
      out.push_back({"stage.disk_full", path, "at least " + std::to_string(least) + " bytes free",
                     std::to_string(*space) + " bytes free"});
}

}  // namespace

std::vector<Obstacle> see_obstacles(StepContext& context) {
  const DriverSpec& driver = context.desired.driver;
  std::vector<Obstacle> out;
  if (!driver.repository_key.empty() && !context.host.exists(driver.repository_key))
    out.push_back(
        {"driver.bundle_missing", driver.repository_key, "the key of the repository", "no such file on this node"});
  if (driver.source != "inbox") {
    const std::int64_t size = driver.bundle.empty() ? 0 : see_bundle(context, out);
    see_space(context.host, size, out);
  }
  see_signatures(context, out);
  return out;
}

}  // namespace fabricgate::bootstrap
