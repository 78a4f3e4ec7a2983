#pragma once
/// What no network manager of the node keeps over a reboot, as a file that the agent applies at boot.
#include <string>
#include <vector>

#include "bootstrap/steps/step.hpp"

namespace fabricgate::bootstrap {

inline constexpr const char* persisted_file = "/etc/fabricgate/persisted.json";

struct Persisted {
  Desired desired;
  std::vector<std::string> sriov, network;  ///< names of the rails whose VFs, or whose settings, are to be applied
};

std::string to_text(const Persisted& persisted);
/// Errors: parse.
Result<Persisted> persisted_from_text(const std::string& text);

/// `desired` with the rails named alone.
Desired with_rails(Desired desired, const std::vector<std::string>& names);

/// The unit runs after the rails' interfaces have come and before any network manager begins.
std::string persist_unit(const Persisted& persisted);

/// True where the persist step keeps what nobody else does: where systemd runs and it is not left to somebody else.
bool keeps_over_reboot(Host& host, const Desired& desired);

}  // namespace fabricgate::bootstrap
