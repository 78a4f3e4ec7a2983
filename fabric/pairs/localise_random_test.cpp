/// Random fabrics with one to three random faults that the measurements can tell apart: exactly these must be named; and a large one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "fabric/pairs/localise_world.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using testing::key;
using testing::keys;
using testing::lost_paths;
using testing::World;

constexpr unsigned cases = 4000;
constexpr unsigned first_seed = 20260;

struct Trial {
  std::mt19937 random;
  World world;
  std::set<std::string> expected;
  std::set<int> used;  ///< nodes that a fault touches; two at least stay untouched

  explicit Trial(unsigned seed) : random(seed), world(3 + random() % 6, 2 + random() % 2) {}

  int below(int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }
  int fresh_node() {
    int node = below(world.nodes);
    while (used.count(node)) node = below(world.nodes);
    used.insert(node);
    return node;
  }
  int room() const { return world.nodes - 2 - static_cast<int>(used.size()); }
  void expect(CulpritKind kind, Effect effect, std::vector<End> ends, std::vector<int> a = {},
              std::vector<int> b = {}) {
    expected.insert(key(
        {.kind = kind, .effect = effect, .ends = std::move(ends), .group_a = std::move(a), .group_b = std::move(b)}));
  }
};

void slow_end(Trial& t) {
  const bool lossy = t.below(3) == 0, whole_node = t.below(4) == 0;
  const Way way = static_cast<Way>(t.below(3));
  const End end{t.fresh_node(), whole_node ? -1 : t.below(t.world.rails), way};
  t.world.slow(end, 0.3F + 0.04F * static_cast<float>(t.below(10)), lossy ? 0.05F : 0.001F);
  const CulpritKind kind = whole_node         ? CulpritKind::node
                           : way == Way::both ? CulpritKind::rail
                                              : CulpritKind::direction;
  t.expect(kind, lossy ? Effect::loss : Effect::slow, {end});
}

void dead_port(Trial& t) {
  const End end{t.fresh_node(), t.below(t.world.rails)};
  const bool says_so = t.below(2) == 0;
  t.world.net(end.node, end.rail) = -1;
  t.world.fact(end.node, end.rail).down = says_so;
  t.expect(CulpritKind::rail, says_so ? Effect::down : Effect::unreachable, {end});
}

void small_mtu(Trial& t) {
  const End end{t.fresh_node(), t.below(t.world.rails)};
  t.world.small_mtu(end.node, end.rail);
  if (t.below(2) == 0) t.world.fact(end.node, end.rail).mtu = 1500;
  t.expect(CulpritKind::rail, Effect::mtu, {end});
}

void crossed(Trial& t) {
  const int a = t.fresh_node(), b = t.room() > 0 && t.below(2) == 0 ? t.fresh_node() : a;
  t.world.net(a, 0) = 1;
  t.world.net(b, 1) = 0;
  t.expect(CulpritKind::crossed, Effect::crossed, {{a, 0}, {b, 1}});
}

void twin_address(Trial& t) {
  if (t.room() < 2) return slow_end(t);
  const int rail = t.below(t.world.rails);
  const End owner{t.fresh_node(), rail}, other{t.fresh_node(), rail};
  t.world.twins.push_back({owner, other});
  Culprit culprit{.kind = CulpritKind::duplicate_address, .effect = Effect::duplicate, .ends = {owner, other}};
  t.expected.insert(key(culprit));
}

void slow_pair(Trial& t) {
  if (t.room() < 2) return slow_end(t);
  int a = t.fresh_node(), b = t.fresh_node();
  if (a > b) std::swap(a, b);
  const int rail = t.below(t.world.rails);
  const Way way = static_cast<Way>(t.below(3));
  if (way != Way::rx) t.world.slow_path(a, b, rail, 0.4F);
  if (way != Way::tx) t.world.slow_path(b, a, rail, 0.4F);
  t.expect(CulpritKind::pair, Effect::slow, {{a, rail, way}, {b, rail}});
}

/// Alone in its case: a further fault on the same rail may have a second explanation as short.
void slow_uplink(Trial& t) {
  if (t.world.nodes < 4) return slow_end(t);
  const int split = 2 + t.below(t.world.nodes - 3), rail = t.below(t.world.rails);
  const Way way = static_cast<Way>(t.below(3));
  const bool dead = t.below(4) == 0 && way == Way::both;
  std::vector<int> a, b;
  for (int node = 0; node < t.world.nodes; ++node) (node < split ? a : b).push_back(node);
  for (const int from : a) {
    for (const int to : b) {
      if (way != Way::rx) t.world.slow_path(from, to, rail, dead ? 0.0F : 0.4F);
      if (way != Way::tx) t.world.slow_path(to, from, rail, dead ? 0.0F : 0.4F);
    }
  }
  if (t.below(2) == 0) {
    for (int node = 0; node < t.world.nodes; ++node) t.world.leaf.push_back(node < split ? "left" : "right");
  }
  t.expect(CulpritKind::between, dead ? Effect::unreachable : Effect::slow, {{-1, rail, way}}, a, b);
  while (t.room() > -2) t.fresh_node();
}

void put_faults(Trial& t) {
  using Fault = void (*)(Trial&);
  const std::vector<Fault> later{slow_end, slow_end, dead_port, small_mtu, twin_address, slow_pair};
  std::vector<Fault> first = later;
  first.insert(first.end(), {crossed, crossed, slow_uplink, slow_uplink});  // one per case: majorities must stay
  first[static_cast<std::size_t>(t.below(static_cast<int>(first.size())))](t);
  for (int more = t.below(3); more > 0 && t.room() > 0; --more) {
    later[static_cast<std::size_t>(t.below(static_cast<int>(later.size())))](t);
  }
}

/// Healthy paths that were slow while others ran and are good alone; one pair that was not measured in larger fabrics.
void add_noise(Trial& t) {
  for (int i = t.below(4); i > 0; --i) {
    const int from = t.below(t.world.nodes), to = t.below(t.world.nodes), rail = t.below(t.world.rails);
    const bool healthy = from != to && t.world.path(from, to, rail).result == PathClass::good;
    if (!healthy) continue;
    PathResult result{
        .from = from, .to = to, .rail = rail, .result = PathClass::good, .mode = PairMode::alone, .share = 0.96F};
    t.world.extra.push_back(result);
    result.mode = PairMode::together;
    result.result = PathClass::bad;
    result.share = 0.7F;
    t.world.extra.push_back(result);
  }
  if (t.world.nodes < 7 || t.below(2) == 0) return;
  const int a = t.below(t.world.nodes), b = (a + 1) % t.world.nodes;
  if (t.used.count(a) || t.used.count(b)) return;
  for (int rail = 0; rail < t.world.rails; ++rail) {
    t.world.measured[t.world.at(rail, a, b)] = t.world.measured[t.world.at(rail, b, a)] = 0;
  }
}

std::set<std::string> blamed(const std::vector<Culprit>& culprits) {
  std::vector<Culprit> real;
  for (const Culprit& culprit : culprits) {
    if (culprit.effect != Effect::contention) real.push_back(culprit);
  }
  return keys(real);
}

TEST(LocaliseRandom, ExactlyTheFaultsPutInAreNamed) {
  std::cout << "seeds " << first_seed << " to " << first_seed + cases - 1 << '\n';
  for (unsigned seed = first_seed; seed < first_seed + cases; ++seed) {
    Trial trial(seed);
    put_faults(trial);
    add_noise(trial);
    const Observation observation = trial.world.observe();
    const std::vector<Culprit> culprits = localise(observation);
    ASSERT_EQ(blamed(culprits), trial.expected) << "seed " << seed << ", " << trial.world.nodes << " nodes";
    ASSERT_THAT(lost_paths(observation, culprits), ::testing::IsEmpty()) << "seed " << seed;
    ASSERT_EQ(findings(culprits, observation).size(), culprits.size());
  }
}

/// No structure at all: whatever is said must still account for every bad path and cite bad paths only.
TEST(LocaliseRandom, WhateverIsMeasuredNoBadPathIsLostAndNoGoodOneCited) {
  std::cout << "seeds " << first_seed << " to " << first_seed + cases - 1 << '\n';
  for (unsigned seed = first_seed; seed < first_seed + cases; ++seed) {
    Trial trial(seed);
    const int percent = 5 + trial.below(90);
    for (float& share : trial.world.share) share = trial.below(100) < percent ? 0.5F : 0.95F;
    for (char& measured : trial.world.measured) measured = trial.below(10) != 0;
    if (trial.below(2) == 0) trial.world.leaf.assign(static_cast<std::size_t>(trial.world.nodes / 2), "left");
    trial.world.leaf.resize(static_cast<std::size_t>(trial.world.nodes), "right");
    const Observation observation = trial.world.observe();
    std::set<DirectedPath> bad;
    for (const PathResult& path : observation.paths) {
      if (path.result == PathClass::bad) bad.insert({path.from, path.to, path.rail});
    }
    const std::vector<Culprit> culprits = localise(observation);
    ASSERT_THAT(lost_paths(observation, culprits), ::testing::IsEmpty()) << "seed " << seed;
    for (const Culprit& culprit : culprits) {
      for (const DirectedPath& path : culprit.evidence)
        ASSERT_TRUE(bad.count(path)) << "seed " << seed << ' ' << key(culprit);
    }
  }
}

TEST(Localise, AThousandNodesWithThreeFaultsAreSolvedExactly) {
  World world(1000, 1);
  world.slow({17, 0}, 0.5F);
  world.slow({400, 0, Way::rx}, 0.5F);
  world.slow_path(3, 900, 0, 0.4F);
  Observation o = world.observe();
  o.reach.clear();
  EXPECT_THAT(keys(localise(o)),
              ElementsAre("direction slow n400.0.rx", "pair slow n3.0.tx n900.0.both", "rail slow n17.0.both"));
}

}  // namespace
}  // namespace fabricgate::fabric
