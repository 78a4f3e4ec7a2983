#include "launch/accept/slow_group.hpp"

namespace fabricgate::launch {

Hosts slow_group(Hosts hosts, const std::function<bool(const Hosts&)>& is_slow) {
  while (hosts.size() >= 4) {
    const auto middle = hosts.begin() + static_cast<std::ptrdiff_t>(hosts.size() / 2);
    Hosts slow;
    for (const Hosts& half : {Hosts(hosts.begin(), middle), Hosts(middle, hosts.end())})
      if (is_slow(half) && slow.empty()) slow = half;
    if (slow.empty()) return hosts;
    hosts = slow;
  }
  return hosts;
}

}  // namespace fabricgate::launch
