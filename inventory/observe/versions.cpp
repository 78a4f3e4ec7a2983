#include <algorithm>

#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::readers {
namespace {

constexpr const char* library_folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                           "/usr/local/lib", "/usr/local/cuda/lib64"};

std::string output_of(Host& host, const std::vector<std::string>& command, Deadline deadline) {
  if (command[0][0] == '/' && !host.exists(command[0])) return "";
  auto result = host.run(command, deadline.at_most(10));
  return result && result->exit_code == 0 ? result->out : "";
}

std::string open_mpi(Host& host, const std::vector<std::string>& prefixes, Deadline deadline) {
  for (const std::string& prefix : prefixes) {
    // mpirun first: it is asked for most, and quicker than ompi_info
    for (const char* program : {"/bin/mpirun", "/bin/ompi_info"}) {
      const std::string text = output_of(host, {prefix + program, "--version"}, deadline);
      if (const std::string version = parse_version_after(text, "Open MPI"); !version.empty()) return version;
    }
  }
  return "";
}

std::string ucx(Host& host, const std::vector<std::string>& prefixes, Deadline deadline) {
  for (const std::string& prefix : prefixes) {
    const std::string text = output_of(host, {prefix + "/bin/ucx_info", "-v"}, deadline);
    for (const char* marker : {"Library version:", "# Version"})
      if (const std::string version = parse_version_after(text, marker); !version.empty()) return version;
  }
  return "";
}

/// What follows `stem` in the longest file name that starts with it: "libibverbs.so.1.14.44.0" → "44.0".
std::string from_library(Host& host, const std::string& stem, std::size_t digits_to_skip) {
  for (const char* folder : library_folders) {
    auto names = host.list(folder);
    if (!names) continue;
    std::string best;
    for (const std::string& name : *names)
      if (name.rfind(stem, 0) == 0 && name.size() > best.size()) best = name;
    if (best.empty()) continue;
    std::string version = best.substr(stem.size());
    for (std::size_t i = 0; i < digits_to_skip && !version.empty(); ++i)
      version = version.find('.') == std::string::npos ? "" : version.substr(version.find('.') + 1);
    if (version.find('.') != std::string::npos) return version;  // "2" of libnccl.so.2 is no version
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> read_versions(Host& host, const std::vector<std::string>& asked, Deadline deadline) {
  std::vector<std::string> prefixes = asked;
  if (std::find(prefixes.begin(), prefixes.end(), "/usr") == prefixes.end()) prefixes.push_back("/usr");
  std::map<std::string, std::string> out;
  out["openmpi"] = open_mpi(host, prefixes, deadline);
  out["ucx"] = ucx(host, prefixes, deadline);
  out["libc"] = parse_version_after(output_of(host, {"getconf", "GNU_LIBC_VERSION"}, deadline), "glibc");
  out["rdma_core"] = from_library(host, "libibverbs.so.", 2);  // libibverbs.so.1.<abi>.<rdma-core version>
  out["nccl"] = from_library(host, "libnccl.so.", 0);
  out["cuda_driver"] = read_attribute(host, "/sys/module/nvidia/version");
  out["mlx5_core"] = read_attribute(host, "/sys/module/mlx5_core/version");
  out["fabricgate"] = FABRICGATE_VERSION;
  for (auto entry = out.begin(); entry != out.end();)
    entry = entry->second.empty() ? out.erase(entry) : std::next(entry);
  return out;
}

}  // namespace fabricgate::readers
