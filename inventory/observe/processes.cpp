#include <algorithm>
#include <cstdlib>
#include <set>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::readers {
namespace {

/// Daemons and monitors of the driver hold device files on every healthy idle node (names as cut by the kernel).
bool is_driver_daemon(const std::string& name) {
  for (const char* daemon :
       {"nvidia-persiste", "nv-hostengine", "nv-fabricmanage", "dcgm-exporter", "nvidia-device-p", "nvsm_core", "nvidia-smi"})
    if (name == daemon) return true;
  return false;
}

bool holds_gpu(Host& host, const std::string& pid) {
  auto files = host.list("/proc/" + pid + "/fd");
  if (!files) return false;
  return std::any_of(files->begin(), files->end(), [&](const std::string& fd) {
    auto target = host.read_link("/proc/" + pid + "/fd/" + fd);
    const std::string start = "/dev/nvidia";
    return target && target->rfind(start, 0) == 0 && target->size() > start.size() &&
           to_integer(target->substr(start.size()));
  });
}

/// Open MPI's launchers open the GPUs to learn the topology; what uses them are the ranks.
bool is_launcher(const std::string& name) {
  for (const char* launcher : {"mpirun", "orted", "prterun", "prted", "prte"})
    if (name == launcher) return true;
  return false;
}

int parent_of(Host& host, const std::string& pid) { return parse_parent(read_attribute(host, "/proc/" + pid + "/stat")); }

/// This process and those that started it.
struct OwnJob {
  std::set<int> ancestors, launchers;

  explicit OwnJob(Host& host) {
    const std::string self = read_attribute(host, "/proc/self/stat");
    for (int pid = std::atoi(self.c_str()); pid > 1 && ancestors.insert(pid).second; pid = parent_of(host, std::to_string(pid)))
      if (is_launcher(read_attribute(host, "/proc/" + std::to_string(pid) + "/comm"))) launchers.insert(pid);
  }
  bool has(Host& host, const std::string& pid) const {
    return ancestors.count(std::atoi(pid.c_str())) != 0 || launchers.count(parent_of(host, pid)) != 0;
  }
};

std::string ssh_connection(Host& host) {
  std::string process = "self";
  for (int depth = 0; depth < 16; ++depth) {
    if (auto environ = host.read("/proc/" + process + "/environ"))
      if (std::string found = parse_environment(*environ, "SSH_CONNECTION"); !found.empty()) return found;
    const int parent = parse_parent(read_attribute(host, "/proc/" + process + "/stat"));
    if (parent <= 0) return "";
    process = std::to_string(parent);
  }
  return "";
}

}  // namespace

std::vector<std::string> read_gpu_processes(Host& host) {
  std::vector<std::string> out;
  if (!host.exists("/dev/nvidiactl") && !host.exists("/dev/nvidia0")) return out;
  auto processes = host.list("/proc");
  if (!processes) return out;
  const OwnJob own(host);
  for (const std::string& pid : *processes) {
    if (!to_integer(pid) || !holds_gpu(host, pid) || own.has(host, pid)) continue;
    const std::string name = read_attribute(host, "/proc/" + pid + "/comm");
    if (!is_driver_daemon(name) && !is_launcher(name)) out.push_back(pid + " " + name);
  }
  return out;
}

std::map<std::string, std::string> read_file_holders(Host& host, const std::vector<std::string>& starts) {
  std::map<std::string, std::string> out;
  auto processes = host.list("/proc");
  if (!processes) return out;
  for (const std::string& pid : *processes) {
    auto files = to_integer(pid) ? host.list("/proc/" + pid + "/fd") : std::vector<std::string>{};
    if (!files) continue;
    for (const std::string& fd : *files) {
      auto target = host.read_link("/proc/" + pid + "/fd/" + fd);
      if (target && std::any_of(starts.begin(), starts.end(),
                                [&](const std::string& start) { return target->rfind(start, 0) == 0; }))
        out[*target] = pid + " " + read_attribute(host, "/proc/" + pid + "/comm");
    }
  }
  return out;
}

std::string read_ssh_interface(Host& host) {
  const auto words = words_of(ssh_connection(host));  // client address, client port, server address, server port
  if (words.size() < 4) return "";
  auto addresses = host.addresses();
  if (!addresses) return "";
  std::string server = words[2];
  if (server.rfind("::ffff:", 0) == 0) server.erase(0, 7);
  server = server.substr(0, server.find('%'));
  for (const InterfaceAddress& a : *addresses)
    if (a.address == server) return a.netdev;
  return "";
}

}  // namespace fabricgate::readers
