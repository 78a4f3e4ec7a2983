#include "inventory/observe/identity.hpp"

#include <map>

namespace fabricgate {
namespace {

using Places = std::map<std::string, std::vector<const Answerer*>>;  ///< by short name

/// Another node that is or claims to be `name`; one that rightfully has it first.
const Answerer* other_of(const std::string& name, const Answerer& self, const Places& declared, const Places& found) {
  for (const Places* places : {&declared, &found}) {
    const auto at = places->find(name);
    if (at == places->end()) continue;
    for (const Answerer* each : at->second)
      if (each != &self) return each;
  }
  return nullptr;
}

Finding finding_of(const Answerer& self, const std::string& name, const Answerer* other) {
  Subject subject{.host = self.node};
  if (other == nullptr)
    return make_finding("host.identity_mismatch", subject, self.node,
                        "the machine at its address calls itself " + name);
  subject.peer = other->node;
  if (!self.machine.empty() && self.machine == other->machine)
    return make_finding("host.identity_mismatch", subject, self.node,
                        "the machine calls itself " + name + "; the addresses of " + self.node + " and " + other->node +
                            " lead to this one machine");
  if (short_name(other->hostname) == name) return make_finding("launch.hostname_collision", subject, self.node, name);
  return make_finding("host.identity_mismatch", subject, self.node,
                      "the machine calls itself " + name + ", which is another node of the inventory");
}

}  // namespace

std::string short_name(const std::string& name) {
  return name.substr(0, name.find('.'));
}

std::vector<Finding> judge_names(const std::vector<Answerer>& answerers) {
  Places declared, found;
  for (const Answerer& each : answerers) {
    declared[short_name(each.node)].push_back(&each);
    if (!each.hostname.empty()) found[short_name(each.hostname)].push_back(&each);
  }
  std::vector<Finding> findings;
  for (const Answerer& each : answerers) {
    const std::string name = short_name(each.hostname);
    if (each.hostname.empty() || name == short_name(each.node)) continue;
    findings.push_back(finding_of(each, name, other_of(name, each, declared, found)));
  }
  return findings;
}

}  // namespace fabricgate
