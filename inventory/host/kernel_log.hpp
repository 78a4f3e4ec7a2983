#pragma once
/// The kernel's own log, message by message, so that what a driver says about a write can be told from what it said
/// before.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace fabricgate {

struct KernelMessage {
  std::uint64_t sequence = 0;  ///< grows by one with every message of this boot
  std::string text;            ///< "igb 0000:01:00.0: 4 VFs already enabled. Disable before enabling 2 VFs"

  friend bool operator==(const KernelMessage&, const KernelMessage&) = default;
};

/// One record of /dev/kmsg: "6,339,5140900,-;text\n KEY=value\n" (Documentation/ABI/testing/dev-kmsg of Linux).
std::optional<KernelMessage> parse_kernel_record(std::string_view record);

/// RealHost::kernel_log.
Result<std::vector<KernelMessage>> read_kernel_log(std::uint64_t from);

}  // namespace fabricgate
