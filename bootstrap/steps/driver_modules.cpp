// The modules of the stack: whether the loaded ones are the installed ones, and who uses them.
#include <algorithm>
#include <set>

#include "bootstrap/steps/driver.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using readers::read_attribute;

/// "version" and "srcversion" of `modinfo`.
std::string field_of(const std::string& modinfo, const std::string& name) {
  for (const std::string& line : readers::lines_of(modinfo))
    if (line.rfind(name + ":", 0) == 0) return readers::trim(line.substr(name.size() + 1));
  return "";
}

std::string modinfo_of(StepContext& context, const std::string& module) {
  auto shown = context.host.run({"modinfo", module}, context.deadline.at_most(10));
  return shown && shown->exit_code == 0 ? shown->out : "";
}

std::string or_none(const std::string& version) {
  return version.empty() ? "without a version" : version;
}

/// The kernel names a module's code by srcversion; a version alone is what is left where that is not kept.
std::string staleness(StepContext& context, const std::string& module) {
  const std::string folder = "/sys/module/" + module, info = modinfo_of(context, module);
  if (info.empty() || !context.host.exists(folder)) return "";
  const std::string loaded = read_attribute(context.host, folder + "/version"), installed = field_of(info, "version");
  const std::string loaded_code = read_attribute(context.host, folder + "/srcversion"),
                    installed_code = field_of(info, "srcversion");
  const bool told = !loaded_code.empty() && !installed_code.empty();
  if (told ? loaded_code == installed_code : loaded == installed) return "";
  if (loaded == installed) return module + ": code " + loaded_code + " is loaded, " + installed_code + " installed";
  return module + ": " + or_none(loaded) + " is loaded, " + or_none(installed) + " installed";
}

bool has_vendors_function(Host& host) {
  auto functions = host.list("/sys/bus/pci/devices");
  return functions && std::any_of(functions->begin(), functions->end(), [&](const std::string& pci) {
           return read_attribute(host, "/sys/bus/pci/devices/" + pci + "/vendor") == "0x15b3";
         });
}

/// DMA-BUF export needs NVIDIA's open kernel modules and Linux 5.12.
std::string gpudirect_lack(StepContext& context) {
  Host& host = context.host;
  if (!host.exists("/sys/module/nvidia")) return "";
  for (const char* module : {"nvidia_peermem", "nv_peer_mem"})
    if (host.exists(std::string("/sys/module/") + module)) return "";
  for (const std::string& module : context.desired.modules)
    if (module == "nvidia-peermem" || module == "nvidia_peermem") return "";  // the next step loads it
  const std::string kernel = read_attribute(host, "/proc/sys/kernel/osrelease");
  const auto dot = kernel.find('.');
  const auto major = readers::to_integer(kernel.substr(0, dot)).value_or(0);
  const auto minor = dot == std::string::npos ? 0 : std::atoi(kernel.c_str() + dot + 1);
  const std::string license = field_of(modinfo_of(context, "nvidia"), "license");
  if (license.find("MIT") != std::string::npos && (major > 5 || (major == 5 && minor >= 12))) return "";
  return "nvidia-peermem is not loaded; DMA-BUF needs NVIDIA's open kernel modules and Linux 5.12 (license '" +
         license + "', Linux " + kernel + ")";
}

/// Modules of others that sit on the stack and that openibd does not take away, or not without harm.
bool foreign(const std::string& module) {
  for (const char* name : {"nvidia_peermem", "nv_peer_mem", "nvme_rdma", "nvmet_rdma", "rpcrdma", "xprtrdma", "svcrdma",
                           "ib_iser", "ib_isert", "ib_srp", "ib_srpt", "ko2iblnd", "rds_rdma", "smc", "cifs", "ksmbd"})
    if (module == name) return true;
  return false;
}

void add_holders(Host& host, const std::string& module, std::set<std::string>& out) {
  auto names = host.list("/sys/module/" + module + "/holders");
  if (!names) return;
  for (const std::string& name : *names)
    if (out.insert(name).second) add_holders(host, name, out);
}

std::string mounts_over(Host& host, bool lustre) {
  std::string out;
  auto mounts = host.read("/proc/mounts");
  if (!mounts) return out;
  for (const std::string& line : readers::lines_of(*mounts)) {
    const auto words = readers::words_of(line);
    if (words.size() < 4) continue;
    const bool mine =
        lustre ? words[2] == "lustre"
               : words[3].find("proto=rdma") != std::string::npos || words[3].find(",rdma") != std::string::npos;
    if (mine) out += (out.empty() ? "mounted: " : ", ") + words[1];
  }
  return out;
}

std::string controllers_over(Host& host) {
  std::string out;
  auto names = host.list("/sys/class/nvme");
  if (!names) return out;
  for (const std::string& name : *names)
    if (read_attribute(host, "/sys/class/nvme/" + name + "/transport") == "rdma")
      out += (out.empty() ? "" : ", ") + name;
  return out;
}

StackUser user_of(Host& host, const std::string& module) {
  std::string user = module == "ko2iblnd"    ? mounts_over(host, true)
                     : module == "nvme_rdma" ? controllers_over(host)
                                             : mounts_over(host, false);
  if (module == "nvidia_peermem" || module == "nv_peer_mem") user.clear();
  const auto count = readers::read_number(host, "/sys/module/" + module + "/refcnt", 0);
  if (user.empty() && count > 0) user = std::to_string(count) + " users";
  return {module, user.empty() ? "nobody" : user, !user.empty()};
}

/// The driver behind an interface is one that a restart takes away.
bool of_stack(Host& host, const std::string& netdev) {
  const std::string driver = readers::link_name(host, "/sys/class/net/" + netdev + "/device/driver");
  return driver.rfind("mlx", 0) == 0;
}

}  // namespace

void see_modules(StepContext& context, SeenDriver& seen) {
  seen.openibd = context.host.exists(openibd);
  for (const char* module : {"mlx5_core", "mlx5_ib", "ib_core"})
    if (const std::string text = staleness(context, module); !text.empty()) seen.stale.push_back(text);
  const bool loaded = context.host.exists("/sys/module/mlx5_core");
  if (context.desired.driver.source != "inbox" && !seen.installed.empty() && !loaded &&
      has_vendors_function(context.host))
    seen.stale.push_back("mlx5_core: not loaded");
  seen.gpudirect = gpudirect_lack(context);
}

void see_users(StepContext& context, SeenDriver& seen) {
  Host& host = context.host;
  std::set<std::string> holders;
  for (const char* module : {"mlx5_core", "ib_core", "ib_uverbs", "rdma_cm"}) add_holders(host, module, holders);
  for (const std::string& module : holders)
    if (foreign(module)) seen.users.push_back(user_of(host, module));
  for (const auto& [file, process] : readers::read_file_holders(host, {"/dev/infiniband/uverbs"}))
    seen.users.push_back({"", "process " + process + " has " + file + " open", true});
  for (const auto& [netdev, reason] : protected_interfaces(host, context.desired))
    if (seen.guarded.empty() && of_stack(host, netdev)) seen.guarded = netdev + " " + reason;
}

}  // namespace fabricgate::bootstrap
