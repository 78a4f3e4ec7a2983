#include <algorithm>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"
#include "results/clock.hpp"

namespace fabricgate {
namespace {

using namespace readers;

#if defined(__x86_64__)
constexpr const char* architecture_name = "x86_64";
#elif defined(__aarch64__)
constexpr const char* architecture_name = "aarch64";
#else
constexpr const char* architecture_name = "unknown";
#endif

/// The whole text, or empty with a line in `unread`.
std::string must_read(Host& host, const char* area, const std::string& path, Unread& unread) {
  auto text = host.read(path);
  if (text) return *text;
  unread.push_back(std::string(area) + ": " + text.error().what);
  return "";
}

void observe_system(Host& host, Facts& facts) {
  facts.hostname = trim(must_read(host, "hostname", "/proc/sys/kernel/hostname", facts.unread));
  facts.kernel = trim(must_read(host, "kernel", "/proc/sys/kernel/osrelease", facts.unread));
  facts.boot_id = trim(must_read(host, "boot_id", "/proc/sys/kernel/random/boot_id", facts.unread));
  facts.machine_id = read_attribute(host, "/etc/machine-id");
  facts.architecture = read_attribute(host, "/proc/sys/kernel/arch");  // since Linux 6.1
  if (facts.architecture.empty()) facts.architecture = architecture_name;
  const auto os = parse_os_release(must_read(host, "os", "/etc/os-release", facts.unread));
  if (os.count("ID")) facts.os_id = os.at("ID");
  if (os.count("VERSION_ID")) facts.os_version = os.at("VERSION_ID");
  facts.cpu_model = parse_cpu_model(must_read(host, "cpu", "/proc/cpuinfo", facts.unread));
  facts.cpus = parse_cpu_count(must_read(host, "cpus", "/sys/devices/system/cpu/online", facts.unread));
  facts.numa_nodes = parse_cpu_count(read_attribute(host, "/sys/devices/system/node/online"));
  facts.memory_bytes = parse_memory_total(must_read(host, "memory", "/proc/meminfo", facts.unread));
  if (const auto limits = parse_memlock(must_read(host, "memlock", "/proc/self/limits", facts.unread))) {
    facts.memlock_soft_bytes = limits->soft;
    facts.memlock_hard_bytes = limits->hard;
  } else {
    facts.unread.push_back("memlock: no line 'Max locked memory' in /proc/self/limits");
  }
}

/// Loaded modules and those built into the kernel that show up in /sys/module; a kernel without module support has no
/// /proc/modules.
std::vector<std::string> observe_modules(Host& host) {
  std::vector<std::string> out;
  if (auto text = host.read("/proc/modules")) out = parse_modules(*text);
  if (auto names = host.list("/sys/module")) out.insert(out.end(), names->begin(), names->end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void observe_asked(Host& host, const FactsRequest& request, Facts& facts) {
  for (const std::string& key : request.sysctl_keys) {
    auto value = host.read(sysctl_path(key));
    if (!value) {
      facts.unread.push_back("sysctl " + key + ": " + value.error().what);
      continue;
    }
    std::string text;
    for (const std::string& word : words_of(*value)) text += (text.empty() ? "" : " ") + word;
    facts.sysctl[key] = text;
  }
  for (const std::string& path : request.free_space_paths) {
    auto space = host.free_bytes(path);
    if (space)
      facts.free_bytes[path] = *space;
    else
      facts.unread.push_back("free space: " + space.error().what);
  }
}

}  // namespace

Facts observe(Host& host, const FactsRequest& request, Deadline deadline) {
  Facts facts;
  observe_system(host, facts);
  facts.pci = read_pci(host, facts.unread);
  facts.gpus = static_cast<int>(std::count_if(facts.pci.begin(), facts.pci.end(), [](const PciDevice& d) {
    return d.vendor == "0x10de" && d.device_class.rfind("0x03", 0) == 0;
  }));
  facts.netdevs = read_netdevs(host, facts.unread);
  facts.rdma_ports = read_rdma_ports(host);
  facts.modules = observe_modules(host);
  observe_asked(host, request, facts);
  facts.routes = parse_routes(must_read(host, "routes", "/proc/net/route", facts.unread));
  facts.versions = read_versions(host, request.version_prefixes, deadline);
  facts.ssh_interface = read_ssh_interface(host);
  facts.gpu_processes = read_gpu_processes(host);
  facts.network_mounts = parse_network_mounts(must_read(host, "mounts", "/proc/self/mountinfo", facts.unread));
  facts.clock_unix_s = unix_now_s();
  return facts;
}

}  // namespace fabricgate
