#include "launch/accept/dark_rails.hpp"

#include <algorithm>

#include "fabric/pairs/localise.hpp"

namespace fabricgate::launch {
namespace {

constexpr std::size_t most_distance = 4;

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> dark_rail_questions(const std::vector<std::string>& hosts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t distance = 1; distance <= std::min(most_distance, hosts.size() / 2); ++distance)
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::size_t other = (i + distance) % hosts.size();
      if (2 * distance == hosts.size() && other < i) continue;  // half way round, seen from the other side
      pairs.push_back({hosts[std::min(i, other)], hosts[std::max(i, other)]});
    }
  return pairs;
}

std::vector<Finding> dark_rails(const std::vector<std::string>& hosts,
                                const std::vector<fabric::ReachAnswer>& answers) {
  fabric::Observation observation{.nodes = hosts};
  for (const fabric::ReachAnswer& answer : answers) {
    if (answer.from_rail != answer.to_rail || !answer.error.empty()) continue;
    if (index_of(observation.rails, answer.to_rail) < 0) observation.rails.push_back(answer.to_rail);
    observation.paths.push_back(
        {.from = index_of(hosts, answer.from),
         .to = index_of(hosts, answer.to),
         .rail = index_of(observation.rails, answer.to_rail),
         .result = answer.macs.empty() ? fabric::PathClass::unreachable : fabric::PathClass::good});
  }
  const auto culprits = fabric::localise(observation);
  auto findings = fabric::findings(culprits, observation);
  std::vector<Finding> dark;
  for (std::size_t i = 0; i < culprits.size(); ++i)
    if (culprits[i].kind == fabric::CulpritKind::rail && findings[i].verdict == Verdict::fail)
      dark.push_back(std::move(findings[i]));
  return dark;
}

}  // namespace fabricgate::launch
