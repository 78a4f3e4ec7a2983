#include "bootstrap/agent/busy.hpp"

namespace fabricgate::bootstrap {

std::vector<std::string> busy_reasons(const Desired& desired, const Facts& facts) {
  std::vector<std::string> out;
  for (const std::string& process : facts.gpu_processes) out.push_back("GPU process " + process);
  for (const std::string& mount : facts.network_mounts) {
    const std::size_t blank = mount.rfind(' ');
    const auto server = parse_ipv4(mount.substr(blank + 1));
    if (!server || desired.management.contains(*server)) continue;
    for (const DesiredRail& rail : desired.rails)
      if (Cidr{rail.address, rail.prefix}.contains(*server))
        out.push_back(mount.substr(0, blank) + " mounted from " + mount.substr(blank + 1) + " over " + rail.name);
  }
  return out;
}

}  // namespace fabricgate::bootstrap
