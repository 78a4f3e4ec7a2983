#include "fabric/pairs/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fabricgate::fabric {
namespace {

constexpr double few_contradictions = 0.05;

double median(std::vector<float> values) {
  if (values.empty()) return -1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Tally {
  std::size_t mtu = 0, unstable = 0, unreachable = 0, both = 0, retested = 0, again = 0, echo = 0, deaf = 0;
  std::vector<float> share, loss, flows_lost, flows_blocked, flows_late, flow_slow, stall, segments;
};

Tally tally(const Culprit& culprit, const PathTable& table) {
  Tally out;
  for (const DirectedPath& path : culprit.evidence) {
    const Cell& cell = table.at(path.rail, path.from, path.to);
    out.mtu += cell.mtu;
    out.unstable += cell.unstable;
    out.unreachable += cell.state == PathClass::unreachable;
    out.both += cell.both;
    const auto note = [](float value, std::vector<float>& values) { if (value > 0) values.push_back(value); };
    note(cell.flows_lost, out.flows_lost);
    note(cell.flows_blocked, out.flows_blocked);
    note(std::max(cell.flows_late, cell.flows_lost), out.flows_late);
    note(cell.flow_slow, out.flow_slow);
    note(cell.stall, out.stall);
    note(static_cast<float>(cell.segment), out.segments);
    out.retested += cell.retested;
    out.again += cell.again;
    out.echo += cell.echo;
    out.deaf += cell.deaf;
    if (cell.share >= 0) out.share.push_back(cell.share);
    if (cell.loss >= 0) out.loss.push_back(cell.loss);
  }
  return out;
}

bool is_end(const Culprit& culprit) {
  return culprit.kind == CulpritKind::direction || culprit.kind == CulpritKind::rail;
}

/// `more` goes into `into`, which keeps its kind and ends.
void absorb(Culprit& into, const Culprit& more) {
  std::vector<DirectedPath> evidence;
  std::set_union(into.evidence.begin(), into.evidence.end(), more.evidence.begin(), more.evidence.end(),
                 std::back_inserter(evidence));
  into.evidence = std::move(evidence);
  into.contradicted += more.contradicted;
  into.confidence = std::min(into.confidence, more.confidence);
  into.again = into.again && more.again;
  if (more.share >= 0) into.share = into.share < 0 ? more.share : std::min(into.share, more.share);
  into.loss = std::max(into.loss, more.loss);
  if (into.effect != more.effect && more.effect == Effect::unreachable) into.effect = more.effect;
}

void fold_directions(std::vector<Culprit>& culprits) {
  std::map<std::pair<int, int>, std::size_t> first;
  std::vector<Culprit> out;
  for (Culprit& culprit : culprits) {
    if (culprit.kind == CulpritKind::direction) {
      const auto [at, fresh] = first.try_emplace({culprit.ends[0].node, culprit.ends[0].rail}, out.size());
      if (!fresh) {
        Culprit& twin = out[at->second];
        absorb(twin, culprit);
        if (twin.ends[0].way != culprit.ends[0].way) twin.kind = CulpritKind::rail, twin.ends[0].way = Way::both;
        continue;
      }
    }
    out.push_back(std::move(culprit));
  }
  culprits = std::move(out);
}

/// Equal parts on every rail become one with rail −1. `key` tells parts apart, an empty key keeps a culprit out.
template <class Key>
void fold_rails(std::vector<Culprit>& culprits, int rails, Key&& key) {
  if (rails < 2) return;
  std::map<std::vector<int>, std::set<int>> rails_of;
  for (const Culprit& culprit : culprits) {
    const std::vector<int> k = key(culprit);
    if (!k.empty()) rails_of[k].insert(culprit.ends[0].rail);
  }
  std::map<std::vector<int>, std::size_t> first;
  std::vector<Culprit> out;
  for (Culprit& culprit : culprits) {
    const std::vector<int> k = key(culprit);
    if (k.empty() || static_cast<int>(rails_of[k].size()) < rails) {
      out.push_back(std::move(culprit));
      continue;
    }
    const auto [at, fresh] = first.try_emplace(k, out.size());
    if (!fresh) {
      absorb(out[at->second], culprit);
      continue;
    }
    if (is_end(culprit)) culprit.kind = CulpritKind::node;
    for (End& end : culprit.ends) end.rail = -1;
    out.push_back(std::move(culprit));
  }
  culprits = std::move(out);
}

std::vector<int> end_key(const Culprit& culprit) {
  if (!is_end(culprit)) return {};
  return {culprit.ends[0].node, static_cast<int>(culprit.ends[0].way), static_cast<int>(culprit.effect)};
}

/// A rate is declared of a rail: a fabric that is slow on all of them stays one culprit of each.
std::vector<int> place_key(const Culprit& culprit) {
  const bool place = culprit.kind == CulpritKind::pair || culprit.kind == CulpritKind::between ||
                     (culprit.kind == CulpritKind::fabric && culprit.effect != Effect::slow);
  if (!place || culprit.ends[0].rail < 0) return {};
  std::vector<int> key{static_cast<int>(culprit.kind), static_cast<int>(culprit.effect),
                       static_cast<int>(culprit.ends[0].way)};
  for (const End& end : culprit.ends) key.push_back(end.node);
  for (const std::vector<int>* group : {&culprit.group_a, &culprit.group_b}) {
    key.push_back(-2);
    key.insert(key.end(), group->begin(), group->end());
  }
  return key;
}

/// Swaps sides so that `leaf` is side a.
void put_first(Culprit& culprit, const std::string& leaf) {
  if (culprit.leaf_a == leaf) return;
  std::swap(culprit.leaf_a, culprit.leaf_b);
  std::swap(culprit.group_a, culprit.group_b);
  Way& way = culprit.ends[0].way;
  if (way != Way::both) way = way == Way::tx ? Way::rx : Way::tx;
}

/// The leaf through which the most leaf pairs of `rail` are bad, when these are all its pairs with other leaves.
std::string bad_uplink(const std::vector<Culprit>& culprits, int rail, std::size_t leaves) {
  std::map<std::string, std::size_t> degree;
  for (const Culprit& culprit : culprits) {
    const bool counts = culprit.kind == CulpritKind::between && culprit.ends[0].rail == rail && !culprit.leaf_b.empty();
    if (counts) ++degree[culprit.leaf_a], ++degree[culprit.leaf_b];
  }
  for (const auto& [leaf, count] : degree) {
    if (leaves >= 3 && count == leaves - 1) return leaf;
  }
  return "";
}

/// A leaf that is bad with every other leaf has a bad uplink: one culprit with side b "the rest".
void fold_uplinks(std::vector<Culprit>& culprits, int rail, std::size_t leaves) {
  for (std::string leaf = bad_uplink(culprits, rail, leaves); !leaf.empty();
       leaf = bad_uplink(culprits, rail, leaves)) {
    std::vector<Culprit> out;
    Culprit* uplink = nullptr;
    out.reserve(culprits.size());
    for (Culprit& culprit : culprits) {
      const bool mine = culprit.kind == CulpritKind::between && culprit.ends[0].rail == rail &&
                        !culprit.leaf_b.empty() && (culprit.leaf_a == leaf || culprit.leaf_b == leaf);
      if (!mine) {
        out.push_back(std::move(culprit));
        continue;
      }
      put_first(culprit, leaf);
      if (uplink == nullptr) {
        culprit.leaf_b.clear();
        out.push_back(std::move(culprit));
        uplink = &out.back();
        continue;
      }
      absorb(*uplink, culprit);
      if (uplink->ends[0].way != culprit.ends[0].way) uplink->ends[0].way = Way::both;
      uplink->group_b.insert(uplink->group_b.end(), culprit.group_b.begin(), culprit.group_b.end());
    }
    culprits = std::move(out);
  }
}

/// Every leaf pair of a rail bad: what they share is the layer above, one culprit without leaf names.
void fold_spine(std::vector<Culprit>& culprits, int rail, std::size_t leaves) {
  const auto mine = [rail](const Culprit& culprit) {
    return culprit.kind == CulpritKind::between && culprit.ends[0].rail == rail && !culprit.leaf_b.empty();
  };
  const auto count = static_cast<std::size_t>(std::count_if(culprits.begin(), culprits.end(), mine));
  if (leaves < 3 || count < leaves * (leaves - 1) / 2) return;
  Culprit spine;
  std::set<int> nodes;
  for (const Culprit& culprit : culprits) {
    if (!mine(culprit)) continue;
    if (nodes.empty()) {
      spine = culprit;
    } else {
      absorb(spine, culprit);
    }
    nodes.insert(culprit.group_a.begin(), culprit.group_a.end());
    nodes.insert(culprit.group_b.begin(), culprit.group_b.end());
  }
  culprits.erase(std::remove_if(culprits.begin(), culprits.end(), mine), culprits.end());
  spine.leaf_a = spine.leaf_b = "";
  spine.ends[0].way = Way::both;
  spine.group_a.assign(nodes.begin(), nodes.end());
  spine.group_b.clear();
  culprits.push_back(std::move(spine));
}

std::size_t leaf_count(const Observation& observation, int rail) {
  std::set<std::string> names;
  for (const std::vector<std::string>& node : observation.leaves) {
    if (rail < static_cast<int>(node.size()) && !node[rail].empty()) names.insert(node[rail]);
  }
  return names.size();
}

const char* one_way_text(const Culprit& culprit) {
  if (culprit.kind != CulpritKind::direction) return "connections one way are not answered, those the other way are";
  return culprit.ends[0].way == Way::rx ? "connections to it are not answered, those it opens are"
                                        : "connections it opens are not answered, those to it are";
}

}  // namespace

void describe(Culprit& culprit, const PathTable& table) {
  const Tally counts = tally(culprit, table);
  const std::size_t all = culprit.evidence.size();
  culprit.share = median(counts.share);
  culprit.loss = median(counts.loss);
  culprit.again = 2 * counts.again > all;
  if (culprit.effect != Effect::slow || all == 0) return;
  const bool contradicted = culprit.contradicted > few_contradictions * static_cast<double>(all);
  if (2 * counts.mtu > all) {
    culprit.effect = Effect::mtu;
  } else if (2 * counts.echo > all) {
    culprit.effect = Effect::echo;
  } else if (2 * counts.unstable > all || contradicted) {
    culprit.effect = Effect::unstable;
  } else if (2 * counts.unreachable > all) {
    culprit.effect = Effect::unreachable;
    if (2 * counts.deaf > all) culprit.text = one_way_text(culprit);
  } else if (2 * counts.flows_lost.size() > all) {
    culprit.effect = Effect::flows;
    culprit.text = fmt::format("{:.1f}% of connections never answered", median(counts.flows_lost) * 100);
  } else if (2 * counts.flows_blocked.size() > all) {
    culprit.effect = Effect::flows_blocked;
    culprit.text = fmt::format("{:.1f}% of connections carry no full-size segment", median(counts.flows_blocked) * 100);
  } else if (2 * counts.segments.size() > all) {
    culprit.effect = Effect::segment;
    culprit.text = fmt::format("segments of {:.0f} bytes", median(counts.segments));
  } else if (culprit.loss > table.loss_ceiling()) {
    culprit.effect = Effect::loss;
  } else if (2 * counts.flows_late.size() > all) {
    culprit.effect = Effect::flows_late;
    culprit.text = fmt::format("{:.1f}% of connections come late or not at all", median(counts.flows_late) * 100);
  } else if (2 * counts.stall.size() > all) {
    culprit.effect = Effect::stall;
    culprit.text = fmt::format("nothing arrives for {:.1f} s, then it goes on at full rate", median(counts.stall));
  } else if (2 * counts.both > all) {
    culprit.effect = Effect::half_duplex;
  } else if (2 * counts.flow_slow.size() > all) {
    culprit.effect = Effect::flow_slow;
    culprit.text = fmt::format("the slowest connection takes {:.0f} times as long as is usual", median(counts.flow_slow));
  }
  if (contradicted) culprit.confidence = std::min(culprit.confidence, 0.4);
  const bool hard = culprit.effect == Effect::mtu || culprit.effect == Effect::unreachable ||
                    culprit.effect == Effect::flows || culprit.effect == Effect::flows_blocked ||
                    culprit.effect == Effect::segment;
  if (counts.retested > 0) {
    culprit.confidence = std::min(0.95, culprit.confidence + 0.1);
  } else if (culprit.kind == CulpritKind::pair && !hard) {
    culprit.confidence = std::min(culprit.confidence, 0.4);  // a pair that was not tried again alone is not settled
  }
}

std::vector<Culprit> fold(std::vector<Culprit> culprits, const Observation& observation) {
  const int rails = static_cast<int>(observation.rails.size());
  fold_directions(culprits);
  for (int rail = 0; rail < rails; ++rail) {
    const std::size_t leaves = leaf_count(observation, rail);
    fold_spine(culprits, rail, leaves);
    fold_uplinks(culprits, rail, leaves);
  }
  fold_rails(culprits, rails, end_key);
  fold_rails(culprits, rails, place_key);
  return culprits;
}

}  // namespace fabricgate::fabric
