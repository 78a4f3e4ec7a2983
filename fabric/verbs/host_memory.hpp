#pragma once
/// Memory of the host for buffers: huge pages where there are free ones, on the NUMA node of the adapter.
#include <cstddef>
#include <memory>
#include <string>

#include "fabric/verbs/failure.hpp"

namespace fabricgate::fabric {

class HostMemory {
 public:
  /// `numa_node` of the device, -1: not known. All pages are there when it returns.
  [[nodiscard]] Failed allocate(std::size_t bytes, int numa_node);

  std::byte* data() const { return mapping_.get(); }
  std::size_t bytes() const { return mapping_.get_deleter().bytes; }
  /// What was really used: "host memory, 2 MiB pages, NUMA node 1 (adapter: node 1)".
  const std::string& description() const { return description_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> mapping_;
  std::string description_;
};

}  // namespace fabricgate::fabric
