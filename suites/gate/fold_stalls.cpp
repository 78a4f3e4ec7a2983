/// A node that freezes for part of a second. One pair cannot tell it from a rail that is slow for a moment, and
/// repeated alone the pair may be good. What tells it: nothing arrives on any rail of a measurement for longer than TCP
/// waits before it sends again, though next to nothing is sent again, in most measurements of the node and with
/// different partners, while those of the others have no such gap. A node of one rail is not told from its rail, and
/// not named.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

/// A moment with others running may be an accident of the partner; three are not.
constexpr int least_rounds = 3;
constexpr std::size_t least_partners = 2;

/// All rails of a pair that were measured at once.
struct Round {
  int a = 0, b = 0;
  int rails = 0;
  double gap_s = 0;  ///< on the rail with the shortest
  bool of(int node) const { return a == node || b == node; }
};

std::vector<Round> rounds_of(const Fold& fold) {
  std::map<std::tuple<int, int, int>, Round> rounds;
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != "pair.rail" || !exhibit.figures || fold.shut(exhibit.nodes[0]) ||
        fold.shut(exhibit.nodes[1]))
      continue;
    Round& round = rounds[{exhibit.nodes[0], exhibit.nodes[1], exhibit.record.attempt}];
    round.a = exhibit.nodes[0], round.b = exhibit.nodes[1];
    round.gap_s = round.rails == 0 ? exhibit.longest_gap_s : std::min(round.gap_s, exhibit.longest_gap_s);
    ++round.rails;
  }
  std::vector<Round> out;
  for (const auto& [key, round] : rounds) out.push_back(round);
  return out;
}

struct Count {
  int stalled = 0, all = 0;
  std::set<int> partners;  ///< with whom it stalled on several rails at once
  std::vector<double> gaps;
};

/// Rounds with the node (`with`) or without it.
Count count(const std::vector<Round>& rounds, int node, bool with, double most_s) {
  Count out;
  for (const Round& round : rounds) {
    if (round.of(node) != with) continue;
    ++out.all;
    if (round.gap_s <= most_s) continue;
    ++out.stalled;
    out.gaps.push_back(round.gap_s);
    if (round.rails > 1) out.partners.insert(round.a == node ? round.b : round.a);
  }
  return out;
}

bool freezes(const Count& own, const Count& others) {
  return own.stalled >= least_rounds && 2 * own.stalled > own.all && own.partners.size() >= least_partners &&
         4 * others.stalled <= others.all;
}

}  // namespace

std::set<int> fold_stalls(Fold& fold) {
  const Limit* limit = fold.input.limits.find("pair.longest_gap");
  if (limit == nullptr || !limit->high) return {};
  const std::vector<Round> rounds = rounds_of(fold);
  std::set<int> frozen;
  for (int node = 0; node < static_cast<int>(fold.nodes()); ++node) {
    Count own = count(rounds, node, true, *limit->high);
    if (!freezes(own, count(rounds, node, false, *limit->high))) continue;
    frozen.insert(node);
    Finding finding = make_finding(
        "pair.stalls", {.host = fold.node(node).name},
        "data arrives without a pause of more than " + time_text(*limit->high),
        fmt::format("nothing arrives on all its rails for {} as a rule, in {} of {} measurements, with {} partners",
                    time_text(median(own.gaps)), own.stalled, own.all, own.partners.size()));
    fold.add(node, Tier::pair, held_against(std::move(finding), "pair.longest_gap", *limit));
  }
  return frozen;
}

}  // namespace fabricgate::suites
