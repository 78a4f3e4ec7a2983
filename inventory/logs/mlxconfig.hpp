#pragma once
/// Output of `mlxconfig -d DEVICE -e query` and of mstconfig, its twin.
#include <map>
#include <string>
#include <string_view>

#include "results/result.hpp"

namespace fabricgate {

/// As printed: "True(1)", "16", "IB(1)". A column that was not asked for is empty.
struct FirmwareSetting {
  std::string standard, current, next;
};

/// By name. Which column is which is read from the header: without -e there is only "Next Boot". Errors: what the tool
/// says behind "-E-" (native), or no table (parse).
Result<std::map<std::string, FirmwareSetting>> parse_mlxconfig(std::string_view text);

/// 1 of "True(1)", 16 of "16"; -1 for what is no number.
long setting_number(const std::string& value);

}  // namespace fabricgate
