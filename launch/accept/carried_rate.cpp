#include "launch/accept/carried_rate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fabricgate::launch {
namespace {

double declared_bytes_per_s(const Inventory& inventory, const std::vector<std::string>& hosts) {
  double slowest = 0;
  for (const std::string& host : hosts) {
    double rate = 0;
    for (const Rail& rail : inventory.nodes[*inventory.find(host)].spec->rails) rate += rail.rate_bits_per_s / 8;
    slowest = slowest == 0 ? rate : std::min(slowest, rate);
  }
  return slowest;
}

}  // namespace

double carried_bytes_per_s(const Inventory& inventory, const std::vector<std::string>& hosts,
                           const std::vector<suites::Exhibit>& exhibits) {
  const std::set<std::string> in(hosts.begin(), hosts.end());
  std::map<std::tuple<int, int, int>, float> best;  // by path, of its attempts
  for (const suites::Exhibit& exhibit : exhibits)
    for (const fabric::PathResult& path : exhibit.paths) {
      if (path.both || path.share <= 0 || in.count(exhibit.record.hosts[0]) == 0 ||
          in.count(exhibit.record.hosts[1]) == 0)
        continue;
      float& share = best[{path.from, path.to, path.rail}];
      share = std::max(share, path.result == fabric::PathClass::good ? 1.0F : path.share);
    }
  double least = 1;  // the rail with the least of its rate ends last, and all wait for it
  for (const auto& [path, share] : best) least = std::min(least, static_cast<double>(share));
  return std::max(least, 0.01) * declared_bytes_per_s(inventory, hosts);
}

}  // namespace fabricgate::launch
