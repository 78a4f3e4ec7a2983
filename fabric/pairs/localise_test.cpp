#include "fabric/pairs/localise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/pairs/localise_world.hpp"
#include "results/cause.hpp"

namespace fabricgate::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::keys;
using testing::lost_paths;
using testing::World;

std::vector<Culprit> culprits_of(const World& world) {
  const Observation observation = world.observe();
  const std::vector<Culprit> culprits = localise(observation);
  EXPECT_THAT(lost_paths(observation, culprits), IsEmpty());
  for (const Finding& finding : findings(culprits, observation))
    EXPECT_NE(find_cause(finding.cause), nullptr) << finding.cause;
  return culprits;
}

Finding only_finding(const World& world) {
  const Observation observation = world.observe();
  const std::vector<Finding> all = findings(localise(observation), observation);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? Finding{} : all[0];
}

TEST(Localise, AHealthyFabricHasNoCulprit) {
  EXPECT_THAT(culprits_of(World(4, 2)), IsEmpty());
}

TEST(Localise, AnEmptyOrSenselessObservationIsNoCrash) {
  EXPECT_THAT(localise({}), IsEmpty());
  Observation o = World(3, 2).observe();
  o.paths.push_back({.from = -1, .to = 9, .rail = 7, .result = PathClass::bad});
  o.paths.push_back({.from = 1, .to = 1, .rail = 0, .result = PathClass::bad});
  o.reach.push_back({.from = 0, .from_rail = 5, .to = -3, .to_rail = 1});
  o.facts.push_back({.node = 12, .rail = 0, .down = true});
  o.leaves = {{"a"}};
  EXPECT_THAT(localise(o), IsEmpty());
}

TEST(Localise, ARailAtHalfRateIsNamedWithItsNode) {
  World world(4, 2);
  world.slow({2, 1}, 0.48F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("rail slow n2.1.both"));
  const Finding finding = only_finding(world);
  EXPECT_EQ(finding.cause, "pair.rail_slow");
  EXPECT_EQ(finding.verdict, Verdict::fail);
  EXPECT_EQ(finding.subject, (Subject{.host = "n2", .rail = "rail1"}));
  EXPECT_THAT(finding.expected, HasSubstr("80%"));
  EXPECT_THAT(finding.found, HasSubstr("6 paths of 3 pairs, median 48%"));
}

TEST(Localise, OneDirectionIsNamedAsSuch) {
  World world(3, 2);
  world.slow({1, 0, Way::tx}, 0.5F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("direction slow n1.0.tx"));
  EXPECT_EQ(only_finding(world).subject.direction, "tx");
}

TEST(Localise, AWholeNodeIsNamedOnce) {
  World world(5, 3);
  world.slow({4, -1}, 0.3F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("node slow n4.-1.both"));
}

TEST(Localise, ADeadPortIsDownWhenTheNodeSaysSoAndUnreachableOtherwise) {
  World world(3, 2);
  world.net(0, 1) = -1;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("rail unreachable n0.1.both"));
  world.fact(0, 1).down = true;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("rail down n0.1.both"));
}

TEST(Localise, TwoNodesCannotBeToldApartUnlessOneSpeaksForItself) {
  World world(2, 2);
  world.slow({1, 0}, 0.5F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("pair slow n0.0.both n1.0.both"));
  world.fact(1, 0).down = true;
  world.net(1, 0) = -1;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("rail down n1.0.both"));
}

TEST(Localise, CablesCrossedAtOneNodeAreOneCulprit) {
  World world(3, 2);
  world.net(1, 0) = 1;
  world.net(1, 1) = 0;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("crossed crossed n1.0.both n1.1.both"));
  EXPECT_EQ(only_finding(world).cause, "pair.rails_crossed");
  EXPECT_THAT(only_finding(world).found, ::testing::Not(HasSubstr("median")));
}

TEST(Localise, CablesCrossedBetweenTwoNodesNameBoth) {
  World world(4, 2);
  world.net(0, 0) = 1;
  world.net(3, 1) = 0;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("crossed crossed n0.0.both n3.1.both"));
  EXPECT_EQ(only_finding(world).subject.peer, "n3");
}

TEST(Localise, CrossedCablesAreSeenWhenHostsAnswerOnEveryInterface) {
  World world(3, 2);
  world.net(1, 0) = 1;
  world.net(1, 1) = 0;
  Observation o = world.observe();
  for (ReachFact& fact : o.reach) {  // arp_ignore=0: the interface in that network answers for any address of the node
    fact.macs.clear();
    for (int rail = 0; rail < 2; ++rail) {
      if (world.connected(fact.from, fact.from_rail, fact.to, rail)) fact.macs.push_back(World::mac(fact.to, rail));
    }
  }
  EXPECT_THAT(keys(localise(o)), ElementsAre("crossed crossed n1.0.both n1.1.both"));
}

TEST(Localise, TwoNodesWithCrossedCablesAreNamedTogether) {
  World world(2, 2);
  world.net(0, 0) = 1;
  world.net(0, 1) = 0;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("crossed crossed n0.0.both n0.1.both n1.0.both n1.1.both"));
}

TEST(Localise, AnAddressThatExistsTwiceIsReportedEvenWhenAllPathsAreGood) {
  World world(4, 2);
  world.twins.push_back({{1, 0}, {3, 0}});
  const auto culprits = culprits_of(world);
  EXPECT_THAT(keys(culprits), ElementsAre("duplicate_address duplicate n1.0.both n3.0.both"));
  Observation o = world.observe();
  for (PathResult& path : o.paths) path.result = PathClass::good;
  EXPECT_THAT(keys(localise(o)), ElementsAre("duplicate_address duplicate n1.0.both n3.0.both"));
}

TEST(Localise, ASlowUplinkIsBetweenTheLeaves) {
  World world(6, 2);
  world.leaf = {"a", "a", "a", "b", "b", "b"};
  for (int a = 0; a < 3; ++a) {
    for (int b = 3; b < 6; ++b) world.slow_path(a, b, 0, 0.4F), world.slow_path(b, a, 0, 0.4F);
  }
  const auto known = culprits_of(world);
  EXPECT_THAT(keys(known), ElementsAre("between slow n-1.0.both [0,1,2] [3,4,5]"));
  EXPECT_THAT(only_finding(world).found, HasSubstr("between a (n[0-2]) and b (n[3-5])"));
  world.leaf.clear();
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("between slow n-1.0.both [0,1,2] [3,4,5]"));
}

TEST(Localise, ASlowRailBehindASlowUplinkIsNamedToo) {
  for (const bool known : {true, false}) {
    World world(8, 1);
    if (known) world.leaf = {"a", "a", "a", "a", "b", "b", "b", "b"};
    for (int a = 0; a < 4; ++a) {
      for (int b = 4; b < 8; ++b) world.slow_path(a, b, 0, 0.4F), world.slow_path(b, a, 0, 0.4F);
    }
    world.slow({2, 0}, 0.3F);
    const std::string groups = known ? "[0,1,2,3]" : "[0,1,3]";
    EXPECT_THAT(keys(culprits_of(world)),
                ElementsAre("between slow n-1.0.both " + groups + " [4,5,6,7]", "rail slow n2.0.both"));
  }
}

TEST(Localise, ALeafThatIsBadWithAllOthersHasABadUplinkAndAllLeavesShareTheSpine) {
  World world(6, 1);
  world.leaf = {"a", "a", "b", "b", "c", "c"};
  const auto slow = [&world](int a, int b) { world.slow_path(a, b, 0, 0.4F), world.slow_path(b, a, 0, 0.4F); };
  for (const int a : {2, 3}) {
    for (const int b : {0, 1, 4, 5}) slow(a, b);
  }
  const auto uplink = culprits_of(world);
  ASSERT_EQ(uplink.size(), 1u);
  EXPECT_EQ(uplink[0].leaf_a, "b");
  EXPECT_EQ(uplink[0].leaf_b, "");
  EXPECT_EQ(uplink[0].evidence.size(), 16u);
  for (const int a : {0, 1}) {
    for (const int b : {4, 5}) slow(a, b);
  }
  const auto spine = culprits_of(world);
  ASSERT_EQ(spine.size(), 1u);
  EXPECT_EQ(spine[0].leaf_a, "");
  EXPECT_EQ(spine[0].evidence.size(), 24u);
}

TEST(Localise, WhenNothingIsGoodTheFabricIsNamed) {
  World world(4, 2);
  for (int node = 0; node < 4; ++node) world.slow({node, 1}, 0.5F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("fabric slow n-1.1.both"));
  for (int node = 0; node < 4; ++node) world.slow({node, 0}, 0.5F);
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("fabric slow n-1.0.both", "fabric slow n-1.1.both"));
}

TEST(Localise, LossAndMtuHaveTheirOwnCauses) {
  World lossy(4, 2);
  lossy.slow({0, 1}, 0.3F, 0.04F);
  EXPECT_EQ(only_finding(lossy).cause, "pair.packet_loss");
  World mtu(4, 2);
  mtu.small_mtu(3, 0);
  EXPECT_EQ(only_finding(mtu).cause, "pair.mtu_path");
  EXPECT_THAT(only_finding(mtu).found,
              HasSubstr("MTU: 6 paths of 3 pairs; small frames pass, those of the declared MTU, 9000, do not"));
  EXPECT_THAT(only_finding(mtu).found, ::testing::Not(HasSubstr("median")));
  mtu.fact(3, 0).mtu = 1500;
  const Finding finding = only_finding(mtu);
  EXPECT_EQ(finding.cause, "mtu.not_as_declared");
  EXPECT_EQ(finding.subject.host, "n3");
  EXPECT_EQ(finding.expected, "MTU 9000");
}

PathResult alone(int from, int to, int rail, float share) {
  return {.from = from,
          .to = to,
          .rail = rail,
          .result = share >= 0.8F ? PathClass::good : PathClass::bad,
          .mode = PairMode::alone,
          .share = share};
}

TEST(Localise, APairThatIsGoodAloneIsContentionAndNotBlamed) {
  World world(4, 2);
  world.slow_path(0, 1, 0, 0.6F);
  world.extra.push_back(alone(0, 1, 0, 0.96F));
  const Finding once = only_finding(world);
  EXPECT_EQ(once.cause, "pair.contention");
  EXPECT_EQ(once.verdict, Verdict::inconclusive);
  EXPECT_THAT(once.found, HasSubstr("median 60% of the expected rate")) << "what was slow, not what it reached alone";
  world.extra.push_back(world.path(0, 1, 0));
  EXPECT_EQ(only_finding(world).verdict, Verdict::fail) << "every time others run";
}

TEST(Localise, ANodeThatIsSlowOnlyWithAllRailsRunningStaysInconclusive) {
  World world(5, 2);
  world.slow({1, -1}, 0.6F);
  world.each_peer(1, [&](int peer) {
    for (int rail = 0; rail < 2; ++rail) {
      world.extra.push_back(alone(1, peer, rail, 0.96F));
      world.extra.push_back(alone(peer, 1, rail, 0.96F));
    }
  });
  const Finding finding = only_finding(world);
  EXPECT_EQ(finding.cause, "pair.contention");
  EXPECT_EQ(finding.subject.host, "n1");
  EXPECT_EQ(finding.verdict, Verdict::inconclusive);
}

TEST(Localise, APairIsBlamedOnlyAfterItWasTriedAlone) {
  World world(4, 2);
  world.slow_path(0, 1, 0, 0.6F);
  EXPECT_EQ(only_finding(world).verdict, Verdict::inconclusive);
  world.extra.push_back(alone(0, 1, 0, 0.61F));
  const Finding finding = only_finding(world);
  EXPECT_EQ(finding.cause, "pair.slow");
  EXPECT_EQ(finding.verdict, Verdict::fail);
  EXPECT_EQ(finding.subject, (Subject{.host = "n0", .rail = "rail0", .peer = "n1", .direction = "tx"}));
}

TEST(Localise, OneBadPathAloneDoesNotBlameAnEnd) {
  World world(3, 1);
  world.slow({0, 0}, 0.5F);
  world.measured[world.at(0, 0, 2)] = world.measured[world.at(0, 2, 0)] = 0;
  EXPECT_THAT(keys(culprits_of(world)), ElementsAre("pair slow n0.0.both n1.0.both"));
}

TEST(Localise, RepetitionsThatDisagreeAreInconclusive) {
  World world(4, 2);
  world.extra = {alone(2, 3, 1, 0.5F), alone(2, 3, 1, 0.95F)};
  const Finding finding = only_finding(world);
  EXPECT_EQ(finding.cause, "pair.inconsistent");
  EXPECT_EQ(finding.verdict, Verdict::inconclusive);
}

TEST(Localise, ARailThatIsMostlyBadIsNamedWithItsContradiction) {
  World world(6, 1);
  world.slow({2, 0}, 0.5F);
  world.share[world.at(0, 2, 4)] = world.share[world.at(0, 1, 2)] = 0.97F;
  const auto culprits = culprits_of(world);
  EXPECT_THAT(keys(culprits), ElementsAre("rail unstable n2.0.both"));
  EXPECT_EQ(culprits[0].contradicted, 2);
  EXPECT_EQ(only_finding(world).verdict, Verdict::inconclusive);
}

TEST(Localise, ADownPortWithGoodPathsIsContradictory) {
  World world(4, 1);
  world.fact(1, 0).down = true;
  world.slow_path(1, 2, 0, 0.5F);
  EXPECT_EQ(only_finding(world).verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace fabricgate::fabric
