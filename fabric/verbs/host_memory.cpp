#include "fabric/verbs/host_memory.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fabricgate::fabric {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void* map(std::size_t bytes, int flags) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/// Preferred, not bound: a node without free memory must not end the process. By system call, because libnuma need not
/// be on nodes.
void prefer_node(void* data, std::size_t bytes, int node) {
  if (node < 0 || node >= 64) return;
  const unsigned long mask = 1UL << node;
  (void)::syscall(SYS_mbind, data, bytes, MPOL_PREFERRED, &mask, 65UL, 0U);  // where it is in the end is asked below
}

/// -1 where the kernel does not say.
int node_of(void* data) {
  int node = -1;
  return ::syscall(SYS_get_mempolicy, &node, nullptr, 0UL, data, MPOL_F_NODE | MPOL_F_ADDR) == 0 ? node : -1;
}

std::string node_text(int node) {
  return node < 0 ? "not told" : fmt::format("node {}", node);
}

}  // namespace

void HostMemory::Unmap::operator()(std::byte* data) const {
  (void)::munmap(data, bytes);
}

Failed HostMemory::allocate(std::size_t bytes, int numa_node) {
  std::size_t whole = rounded(bytes, huge_page);
  void* data = bytes < huge_page ? MAP_FAILED : map(whole, MAP_HUGETLB);
  const bool huge = data != MAP_FAILED;
  if (!huge) {
    whole = rounded(bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
    data = map(whole, 0);
    if (data == MAP_FAILED) return call_failure(VerbsCall::allocate, fmt::format("{} bytes", bytes), errno);
    (void)::madvise(data, whole, MADV_HUGEPAGE);  // the kernel may
  }
  mapping_ = {static_cast<std::byte*>(data), Unmap{whole}};
  prefer_node(data, whole, numa_node);
  std::memset(data, 0, whole);
  description_ = fmt::format("host memory, {}, NUMA {} (adapter: {})", huge ? "2 MiB pages" : "ordinary pages",
                             node_text(node_of(data)), node_text(numa_node));
  return std::nullopt;
}

}  // namespace fabricgate::fabric
