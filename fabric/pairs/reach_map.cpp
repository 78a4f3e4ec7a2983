#include "fabric/pairs/reach_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace fabricgate::fabric {
namespace {

using Interface = std::pair<int, int>;  // node, rail

std::map<std::string, Interface> mac_owners(const Observation& observation) {
  std::map<std::string, Interface> owners;
  for (const RailFact& fact : observation.facts) {
    if (!fact.mac.empty()) owners[fact.mac] = {fact.node, fact.rail};
  }
  return owners;
}

/// Physical networks by union of interfaces that hear one another.
class Networks {
 public:
  explicit Networks(const Observation& observation)
      : nodes_(static_cast<int>(observation.nodes.size())),
        rails_(static_cast<int>(observation.rails.size())),
        parent_(static_cast<std::size_t>(nodes_) * rails_),
        home_asked_(parent_.size()),
        home_(parent_.size()),
        foreign_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    const std::map<std::string, Interface> owners = mac_owners(observation);
    for (const ReachFact& fact : observation.reach) {
      if (!inside(fact.from, fact.from_rail) || !inside(fact.to, fact.to_rail) || fact.from == fact.to) continue;
      if (fact.from_rail == fact.to_rail) {
        home_asked_[id(fact.from, fact.from_rail)] = home_asked_[id(fact.to, fact.to_rail)] = true;
      }
      for (const std::string& mac : fact.macs) {
        const auto owner = owners.find(mac);
        join({fact.from, fact.from_rail}, owner == owners.end() ? Interface{fact.to, fact.to_rail} : owner->second);
      }
    }
  }

  std::vector<Displaced> displaced() {
    std::map<int, std::vector<int>> votes;  // root → members by rail
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      auto& counts = votes.try_emplace(root(i), std::vector<int>(rails_)).first->second;
      ++counts[i % rails_];
    }
    std::vector<Displaced> out;
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      if (!home_asked_[i] || home_[i] || !foreign_[i]) continue;
      const std::vector<int>& counts = votes[root(i)];
      const int rail = i % rails_;
      int best = -1;
      for (int k = 0; k < rails_; ++k) {
        if (k != rail && (best < 0 || counts[k] > counts[best])) best = k;
      }
      if (best < 0 || counts[best] < counts[rail]) continue;
      out.push_back({i / rails_, rail, best, counts[best] == counts[rail]});
    }
    return out;
  }

 private:
  bool inside(int node, int rail) const { return node >= 0 && node < nodes_ && rail >= 0 && rail < rails_; }
  int id(int node, int rail) const { return node * rails_ + rail; }
  int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(const Interface& a, const Interface& b) {
    if (!inside(b.first, b.second) || a.first == b.first) return;
    const int ia = id(a.first, a.second), ib = id(b.first, b.second);
    std::vector<char>& kind = a.second == b.second ? home_ : foreign_;
    kind[ia] = kind[ib] = true;
    parent_[root(ia)] = root(ib);
  }

  int nodes_, rails_;
  std::vector<int> parent_;
  std::vector<char> home_asked_, home_, foreign_;
};

Culprit crossing(const std::vector<Displaced>& members, const Observation& observation) {
  Culprit culprit{.kind = CulpritKind::crossed, .effect = Effect::crossed, .confidence = 0.95};
  for (const Displaced& member : members) {
    culprit.ends.push_back({member.node, member.rail});
    culprit.text +=
        fmt::format("{}{} {} hears the network of {}{}", culprit.text.empty() ? "" : "; ",
                    observation.nodes[member.node], observation.rails[member.rail], observation.rails[member.network],
                    member.ambiguous ? " (too few nodes to say which end is crossed)" : "");
    if (member.ambiguous) culprit.confidence = 0.5;
  }
  return culprit;
}

/// Takes the members out that form a permutation of the rails of one node.
std::vector<Displaced> take_within_node(std::vector<Displaced>& left, int node) {
  std::vector<Displaced> mine, others;
  std::set<int> rails, networks;
  for (const Displaced& entry : left) {
    (entry.node == node && !entry.ambiguous ? mine : others).push_back(entry);
    if (entry.node == node && !entry.ambiguous) rails.insert(entry.rail), networks.insert(entry.network);
  }
  if (mine.size() < 2 || rails != networks) return {};
  left = others;
  return mine;
}

/// The first entry and, when there is one, the entry of another node that took its place.
std::vector<Displaced> take_swap(std::vector<Displaced>& left) {
  std::vector<Displaced> swap{left.front()};
  left.erase(left.begin());
  const auto partner = std::find_if(left.begin(), left.end(), [&](const Displaced& entry) {
    return !entry.ambiguous && entry.rail == swap[0].network && entry.network == swap[0].rail;
  });
  if (!swap[0].ambiguous && partner != left.end()) {
    swap.push_back(*partner);
    left.erase(partner);
  }
  return swap;
}

}  // namespace

std::vector<Displaced> displaced_interfaces(const Observation& observation) {
  return Networks(observation).displaced();
}

std::vector<Culprit> crossings(const std::vector<Displaced>& displaced, const Observation& observation) {
  std::vector<Culprit> out;
  std::vector<Displaced> left, unclear;
  for (const Displaced& entry : displaced) (entry.ambiguous ? unclear : left).push_back(entry);
  if (!unclear.empty()) out.push_back(crossing(unclear, observation));
  for (int node = 0; node < static_cast<int>(observation.nodes.size()); ++node) {
    const std::vector<Displaced> mine = take_within_node(left, node);
    if (!mine.empty()) out.push_back(crossing(mine, observation));
  }
  while (!left.empty()) out.push_back(crossing(take_swap(left), observation));
  return out;
}

std::vector<Culprit> duplicates(const std::vector<Duplicate>& all, const Observation& observation) {
  std::vector<Culprit> out;
  std::map<Interface, std::size_t> by_answerer;
  for (const Duplicate& duplicate : all) {
    const End owner{duplicate.node, duplicate.rail}, first = duplicate.others.empty() ? owner : duplicate.others[0];
    const auto [place, fresh] = by_answerer.try_emplace({first.node, first.rail}, out.size());
    if (fresh) {
      out.push_back({.kind = CulpritKind::duplicate_address, .effect = Effect::duplicate, .confidence = 0.95});
      out.back().ends = duplicate.others;
    }
    Culprit& culprit = out[place->second];
    culprit.ends.push_back(owner);
    for (const int asker : duplicate.askers) {
      culprit.evidence.push_back({asker, duplicate.node, duplicate.rail});
      culprit.evidence.push_back({duplicate.node, asker, duplicate.rail});
    }
    culprit.text += fmt::format("{}address of {} {} answered by {}", culprit.text.empty() ? "" : "; ",
                                observation.nodes[duplicate.node], observation.rails[duplicate.rail],
                                fmt::join(duplicate.macs, ", "));
  }
  return out;
}

std::vector<Culprit> misrouted(const Observation& observation) {
  const std::map<std::string, Interface> owners = mac_owners(observation);
  std::vector<Culprit> out;
  std::map<std::tuple<int, int, Effect>, std::size_t> known;
  for (const ReachFact& fact : observation.reach) {
    if (!fact.wrong_route && !fact.wrong_neighbour) continue;
    const Effect effect = fact.wrong_route ? Effect::route : Effect::neighbour;
    const auto [place, fresh] = known.try_emplace({fact.from, fact.from_rail, effect}, out.size());
    if (fresh) {
      out.push_back({.kind = CulpritKind::misrouted, .effect = effect, .confidence = 0.99});
      out.back().ends.push_back({fact.from, fact.from_rail});
    }
    Culprit& culprit = out[place->second];
    culprit.ends.push_back({fact.to, fact.to_rail});
    culprit.evidence.push_back({fact.from, fact.to, fact.to_rail});
    culprit.evidence.push_back({fact.to, fact.from, fact.to_rail});
    culprit.text += fmt::format("{}to {} {}", culprit.text.empty() ? "" : "; ", observation.nodes[fact.to], fact.way);
    const auto owner = owners.find(fact.neighbour);
    if (owner != owners.end())
      culprit.text += fmt::format(" ({} {})", observation.nodes[owner->second.first],
                                  observation.rails[owner->second.second]);
  }
  for (Culprit& culprit : out)
    if (culprit.ends.size() > 2) culprit.ends.resize(1);  // of the interface, and of no peer
  return out;
}

std::vector<Duplicate> duplicate_addresses(const Observation& observation) {
  const std::map<std::string, Interface> owners = mac_owners(observation);
  std::map<Interface, std::set<std::string>> answers;
  std::map<Interface, std::vector<int>> askers;
  for (const ReachFact& fact : observation.reach) {
    answers[{fact.to, fact.to_rail}].insert(fact.macs.begin(), fact.macs.end());
    const auto foreign = [&](const std::string& mac) {
      const auto owner = owners.find(mac);
      return owner != owners.end() && owner->second.first != fact.to;
    };
    const bool strange = fact.macs.size() > 1 || std::any_of(fact.macs.begin(), fact.macs.end(), foreign);
    if (fact.from_rail == fact.to_rail && strange) askers[{fact.to, fact.to_rail}].push_back(fact.from);
  }
  std::vector<Duplicate> out;
  for (const auto& [asked, macs] : answers) {
    Duplicate duplicate{asked.first, asked.second, {}, {macs.begin(), macs.end()}, askers[asked]};
    int unknown = 0;
    for (const std::string& mac : macs) {
      const auto owner = owners.find(mac);
      if (owner == owners.end()) {
        ++unknown;
      } else if (owner->second.first != asked.first) {
        duplicate.others.push_back({owner->second.first, owner->second.second});
      }
    }
    if (!duplicate.others.empty() || (unknown > 0 && macs.size() > 1)) out.push_back(duplicate);
  }
  return out;
}

}  // namespace fabricgate::fabric
