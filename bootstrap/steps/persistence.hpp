#pragma once
/// Who keeps an interface's settings over a reboot, and the file that tells it.
#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

/// netplan, NetworkManager, networkd, ifupdown; none: nobody does, as on a machine started by hand.
std::string network_owner(StepContext& context, const std::string& netdev, int index);

struct PersistentFile {
  std::string path, content;
  unsigned mode = 0644;
  std::vector<std::string> reload;  ///< makes a running manager read the file; it does not touch other interfaces
};

/// One file per interface, or one for all where the owner is netplan. `owners` by interface name; rails not in it are
/// left out.
std::vector<PersistentFile> persistent_files(const Desired& desired, const std::map<std::string, std::string>& owners);

}  // namespace fabricgate::bootstrap
