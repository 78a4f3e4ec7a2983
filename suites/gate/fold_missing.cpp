/// Pairs that were demanded and have no record. Up to the suite's full_coverage_nodes every pair of nodes that did not
/// leave is demanded; above it each node needs minimum_partners measured partners on every rail. A node that most of the
/// gaps share is the one that went away: it carries them, and its partners are excused.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "suites/checks/judging.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

constexpr const char* pair_checks[] = {"pair.reach", "pair.rail", "pair.rdma", "pair.overlay"};

struct Gap {
  const char* check;
  int a, b;
  std::string rail;
};

using PairSet = std::set<std::tuple<std::string, int, int, std::string>>;  // check, a, b, rail

/// A planned measurement, whatever it found.
PairSet measured_pairs(const Fold& fold) {
  PairSet out;
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.record.tier == Tier::pair && exhibit.nodes.size() == 2 && exhibit.record.attempt == 0 &&
        exhibit.record.verdict != Verdict::not_run)
      out.emplace(exhibit.record.check, exhibit.nodes[0], exhibit.nodes[1], exhibit.record.rail);
  return out;
}

bool applies(const Check& check, const Rail* rail) { return rail != nullptr && (check.applies == nullptr || check.applies(*rail)); }

/// Rails of both that the check is demanded of.
std::vector<std::string> shared_rails(const Fold& fold, const Check& check, int a, int b) {
  std::vector<std::string> rails;
  for (const Rail& rail : fold.input.inventory.nodes[static_cast<std::size_t>(a)].spec->rails)
    if (applies(check, &rail) && applies(check, declared_rail(&fold.input.inventory.nodes[static_cast<std::size_t>(b)], rail.name)))
      rails.push_back(rail.name);
  return rails;
}

void add_gaps(const Fold& fold, const PairSet& measured, int a, int b, std::vector<Gap>& gaps) {
  for (const char* check : pair_checks) {
    if (!fold.demanded(check)) continue;
    const Check& demanded = *find_check(check);
    for (const std::string& rail : demanded.scope == Scope::pair_rail ? shared_rails(fold, demanded, a, b) : std::vector<std::string>{""})
      if (measured.count({check, a, b, rail}) == 0) gaps.push_back({check, a, b, rail});
  }
}

/// Rails of the node that the check is demanded of; "" for a check of no rail.
std::vector<std::string> rails_of(const Check& check, const Node& node) {
  if (check.scope != Scope::pair_rail) return {""};
  std::vector<std::string> rails;
  for (const Rail& rail : node.spec->rails)
    if (applies(check, &rail)) rails.push_back(rail.name);
  return rails;
}

/// The node that is in the most gaps when they are with more than half of the others; -1 when none stands out.
int vanished(const Fold& fold, const std::vector<Gap>& gaps, std::size_t active) {
  std::vector<std::set<int>> partners(fold.nodes());
  for (const Gap& gap : gaps) {
    partners[static_cast<std::size_t>(gap.a)].insert(gap.b);
    partners[static_cast<std::size_t>(gap.b)].insert(gap.a);
  }
  const auto most = std::max_element(partners.begin(), partners.end(), [](const auto& x, const auto& y) { return x.size() < y.size(); });
  const auto equal = std::count_if(partners.begin(), partners.end(), [&](const auto& other) { return other.size() == most->size(); });
  if (most->size() < 2 || equal > 1 || most->size() * 2 <= active - 1) return -1;
  return static_cast<int>(most - partners.begin());
}

void report(Fold& fold, const Gap& gap, int blame) {
  const auto& nodes = fold.input.inventory.nodes;
  const std::string &a = nodes[static_cast<std::size_t>(gap.a)].name, &b = nodes[static_cast<std::size_t>(gap.b)].name;
  fold.miss({gap.check, {a, b}, gap.rail, "no record"}, Tier::pair, blame);
  if (blame >= 0) {
    fold.add(blame, Tier::pair, make_finding("gate.not_measured", {.host = nodes[static_cast<std::size_t>(blame)].name}, "pairs with the other nodes", "no record"));
    return;
  }
  // An optional node that was not measured says nothing about its required partners.
  if (fold.required(gap.a) == fold.required(gap.b) || !fold.required(gap.a)) fold.fold(gap.a, Tier::pair, Verdict::not_run);
  if (fold.required(gap.a) == fold.required(gap.b) || !fold.required(gap.b)) fold.fold(gap.b, Tier::pair, Verdict::not_run);
}

bool planned_short(const Fold& fold) { return fold.input.short_budget_s > 0; }

/// Why fewer were measured, when it was asked for.
std::string budget_text(const Fold& fold) {
  return planned_short(fold) ? fmt::format("; the time budget of {:g} s (--budget) has no room for more", fold.input.short_budget_s) : "";
}

std::string coverage_text(const Fold& fold, const PairSet& measured) {
  std::set<std::pair<int, int>> pairs;
  for (const auto& [check, a, b, rail] : measured)
    if (check == "pair.rail") pairs.emplace(a, b);
  const std::size_t n = fold.nodes();
  return fmt::format("{} of {} pairs on {} rails", pairs.size(), n * (n - 1) / 2, rail_names(fold.input.inventory).size());
}

void full_coverage(Fold& fold, const PairSet& measured, const std::vector<int>& active) {
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < active.size(); ++i)
    for (std::size_t j = i + 1; j < active.size(); ++j) add_gaps(fold, measured, active[i], active[j], gaps);
  if (!gaps.empty() && planned_short(fold)) {
    const std::string demand = fmt::format("every pair, which the suite wants up to {} nodes", fold.input.suite.full_coverage_nodes);
    fold.result.findings.push_back(make_finding("gate.coverage", {}, demand, coverage_text(fold, measured) + budget_text(fold)));
  }
  while (!gaps.empty()) {
    const int blame = planned_short(fold) ? -1 : vanished(fold, gaps, active.size());
    std::vector<Gap> rest;
    for (const Gap& gap : gaps) {
      if (blame < 0 || gap.a == blame || gap.b == blame) {
        report(fold, gap, blame);
      } else {
        rest.push_back(gap);
      }
    }
    gaps.swap(rest);
  }
}

void minimum_coverage(Fold& fold, const PairSet& measured, const std::vector<int>& active) {
  std::map<std::tuple<std::string, int, std::string>, int> partners;  // check, node, rail → measured partners
  for (const auto& [check, a, b, rail] : measured) {
    ++partners[{check, a, rail}];
    ++partners[{check, b, rail}];
  }
  std::map<std::pair<std::string, std::string>, int> able;  // check, rail → nodes it is demanded of
  for (const int node : active)
    for (const char* check : pair_checks)
      for (const std::string& rail : rails_of(*find_check(check), fold.input.inventory.nodes[static_cast<std::size_t>(node)])) ++able[{check, rail}];
  for (const int node : active) {
    const Node& declared = fold.input.inventory.nodes[static_cast<std::size_t>(node)];
    for (const char* check : pair_checks) {
      if (!fold.demanded(check)) continue;
      for (const std::string& rail : rails_of(*find_check(check), declared)) {
        const int needed = std::min(fold.input.suite.minimum_partners, able[{check, rail}] - 1);
        const int have = partners[{check, node, rail}];
        if (have >= needed) continue;
        const std::string reason = fmt::format("{} of at least {} partners measured{}", have, needed, budget_text(fold));
        fold.add(node, Tier::pair, make_finding("gate.coverage", {.host = declared.name, .rail = rail}, check, reason));
        fold.miss({check, {declared.name}, rail, reason}, Tier::pair, node);
      }
    }
  }
}

/// A rail is measured by a good result with someone, or by any result with a node that is not shut (a bad one is a finding of
/// its own): whoever has none on it, because its partners left or because no one
/// else declares a rail of that name (with an RDMA device), is not measured.
void require_partner(Fold& fold, const std::vector<int>& healthy, const char* check) {
  if (!fold.demanded(check) || planned_short(fold)) return;
  std::set<std::pair<int, std::string>> proven;  // node, rail
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.record.check == check && exhibit.nodes.size() == 2 &&
        (opens_gate(exhibit.record.verdict) || (!fold.shut(exhibit.nodes[0]) && !fold.shut(exhibit.nodes[1]))))
      for (const int node : exhibit.nodes) proven.emplace(node, exhibit.record.rail);
  const bool known = fold.required_shut();  // that one is the reason already
  for (const int node : healthy) {
    if (fold.shut(node)) continue;  // missing pairs named it already
    const Node& declared = fold.input.inventory.nodes[static_cast<std::size_t>(node)];
    for (const std::string& rail : rails_of(*find_check(check), declared)) {
      if (proven.count({node, rail}) != 0) continue;
      Finding finding = make_finding("gate.coverage", {.host = declared.name, .rail = rail}, std::string(check) + " measured with at least one other node",
                                     "with none: its partners left, or no other node declares such a rail");
      finding.primary = !known;
      fold.add(node, Tier::pair, finding);
      fold.fold(node, Tier::pair, Verdict::not_run);
    }
  }
}

}  // namespace

void fold_missing_pairs(Fold& fold) {
  if (fold.nodes() == 0 || (!fold.demanded("pair.rail") && !fold.demanded("pair.reach") && !fold.demanded("pair.overlay"))) return;
  const PairSet measured = measured_pairs(fold);
  std::vector<int> active;
  for (int node = 0; node < static_cast<int>(fold.nodes()); ++node)
    if (!fold.shut(node) || fold.node(node).left_in == Tier::pair) active.push_back(node);
  const auto stays = [&](int node) { return !fold.shut(node); };
  std::vector<int> healthy;
  std::copy_if(active.begin(), active.end(), std::back_inserter(healthy), stays);
  if (static_cast<int>(fold.nodes()) <= fold.input.suite.full_coverage_nodes) {
    full_coverage(fold, measured, healthy);
  } else {
    minimum_coverage(fold, measured, healthy);
  }
  for (const char* check : {"pair.rail", "pair.rdma"}) require_partner(fold, healthy, check);
  fold.result.coverage = coverage_text(fold, measured);
}

}  // namespace fabricgate::suites
