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
  std::string networkd;  ///< of a file of networkd's, the interface, which it configures some time after it was told to reload
};

/// networkd takes addresses that are not its own off an interface while it configures it, so what is set meanwhile is lost.
/// Until it has configured the interface by this file, and stayed so for a second; a bounded time, less where there is no carrier.
void await_networkd(StepContext& context, const PersistentFile& file, int index);

/// One file per interface, or one for all where the owner is netplan. `owners` by interface name; rails not in it are
/// left out.
std::vector<PersistentFile> persistent_files(const Desired& desired, const std::map<std::string, std::string>& owners);

}  // namespace fabricgate::bootstrap
