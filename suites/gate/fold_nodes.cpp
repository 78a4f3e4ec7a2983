#include <algorithm>
#include <set>

#include "suites/checks/judging.hpp"
#include "suites/fleet.hpp"
#include "suites/gate/fold_state.hpp"

namespace fabricgate::suites {
namespace {

using Key = std::pair<int, std::string>;  // node, rail

bool about_one_node(const Check& check) { return check.scope == Scope::node || check.scope == Scope::rail; }

/// Folds the records of one check; returns the subjects that have one.
std::set<Key> fold_records(Fold& fold, const Check& check) {
  std::set<Key> seen;
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != check.id) continue;
    const int node = exhibit.nodes[0];
    seen.insert({node, exhibit.record.rail});
    for (const Finding& finding : exhibit.record.findings) fold.add(node, check.tier, finding);
    fold.fold(node, check.tier, exhibit.record.verdict);
    if (!exhibit.staged) continue;
    fold.node(node).changed = exhibit.staged->changed;
    fold.node(node).lost_at_reboot = exhibit.staged->lost_at_reboot;
  }
  return seen;
}

/// A node that left in an earlier tier is not asked for more.
bool left_before(const Fold& fold, int node, const Check& check) {
  const auto& left = fold.result.nodes[static_cast<std::size_t>(node)].left_in;
  return left && (check.at_end || *left < check.tier);
}

void fold_check(Fold& fold, const Check& check) {
  const std::set<Key> seen = fold_records(fold, check);
  for (int node = 0; node < static_cast<int>(fold.nodes()); ++node) {
    if (left_before(fold, node, check)) continue;
    const Node& declared = fold.input.inventory.nodes[static_cast<std::size_t>(node)];
    std::vector<std::string> rails{""};
    if (check.scope == Scope::rail) {
      rails.clear();
      for (const Rail& rail : declared.spec->rails)
        if (check.applies == nullptr || check.applies(rail)) rails.push_back(rail.name);
      if (seen.count({node, ""}) != 0) continue;  // "the node left in this tier"
    }
    for (const std::string& rail : rails) {
      if (seen.count({node, rail}) != 0) continue;
      fold.add(node, check.tier, make_finding("gate.not_measured", {.host = declared.name, .rail = rail}, check.id, "no record"));
      fold.miss({check.id, {declared.name}, rail, "no record"}, check.tier, node);
    }
  }
}

/// The digest as the facts themselves give it; what is stored must agree with it.
nlohmann::json recomputed_digest(const Fold& fold, const std::vector<std::string>& hosts) {
  nlohmann::json all = nlohmann::json::object();
  const std::set<std::string> wanted(hosts.begin(), hosts.end());
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != "host.facts" || !exhibit.digest.is_object() || wanted.count(exhibit.record.hosts[0]) == 0) continue;
    for (const auto& [host, digest] : exhibit.digest.at("hosts").items()) all[host] = digest;
  }
  return {{"hosts", std::move(all)}};
}

void fold_fleet_record(Fold& fold, const Exhibit& exhibit) {
  for (const Finding& finding : exhibit.record.findings) {
    const auto node = fold.input.inventory.find(finding.subject.host);
    const bool of_one_node = node && finding.cause.rfind("gate.", 0) != 0;
    if (of_one_node) {
      fold.add(static_cast<int>(*node), Tier::host, finding);
    } else {
      fold.result.findings.push_back(finding);
    }
  }
  const bool named = std::any_of(exhibit.record.findings.begin(), exhibit.record.findings.end(),
                                 [](const Finding& finding) { return !opens_gate(finding.verdict); });
  if (!opens_gate(exhibit.record.verdict) && !named)
    fold.miss({"host.fleet", {}, "", exhibit.record.reason.empty() ? to_string(exhibit.record.verdict) : exhibit.record.reason}, Tier::host, -1);
  if (exhibit.digest.is_object() && exhibit.digest != recomputed_digest(fold, exhibit.record.hosts))
    fold.result.findings.push_back(make_finding("gate.verdict_edited", {}, "host.fleet as the facts of its nodes say",
                                                "its sample differs from the host.facts records"));
}

/// host.fleet must cover every node that passed host.facts.
void fold_fleet(Fold& fold) {
  std::set<int> covered;
  bool any = false;
  for (const Exhibit& exhibit : fold.exhibits.records) {
    if (exhibit.record.check != "host.fleet") continue;
    any = true;
    covered.insert(exhibit.nodes.begin(), exhibit.nodes.end());
    fold_fleet_record(fold, exhibit);
  }
  for (int node = 0; node < static_cast<int>(fold.nodes()); ++node) {
    if (covered.count(node) != 0 || fold.shut(node)) continue;
    const std::string& name = fold.input.inventory.nodes[static_cast<std::size_t>(node)].name;
    fold.add(node, Tier::host, make_finding("gate.not_measured", {.host = name}, "host.fleet", any ? "not compared with the fleet" : "no record"));
    fold.miss({"host.fleet", {name}, "", any ? "the record leaves it out" : "no record"}, Tier::host, node);
  }
}

/// Both readings of a rail tell the same fault: the RDMA port of an InfiniBand interface without carrier says why it has
/// none, and an interface without address says why its GID is missing.
void demote_rail_echoes(Fold& fold) {
  const auto starts = [](const Finding& finding, const char* with) { return finding.cause.rfind(with, 0) == 0; };
  const auto demote = [&](NodeResult& node, auto&& is_cause, auto&& is_echo) {
    for (const Finding& cause : node.findings)
      for (Finding& echo : node.findings)
        if (cause.primary && is_cause(cause) && is_echo(echo) && !cause.subject.rail.empty() && cause.subject.rail == echo.subject.rail) echo.primary = false;
  };
  for (NodeResult& node : fold.result.nodes) {
    demote(node, [&](const Finding& f) { return !f.subject.device.empty() && !opens_gate(f.verdict) && (starts(f, "link.") || starts(f, "vf.")); },
           [&](const Finding& f) { return f.subject.device.empty() && f.cause == "link.down"; });
    demote(node, [&](const Finding& f) { return f.cause == "link.address_missing"; }, [&](const Finding& f) { return starts(f, "gid."); });
  }
}

/// A node that carries another's name is told once, by the collision.
void demote_identity(Fold& fold) {
  for (NodeResult& node : fold.result.nodes) {
    const auto has = [](const Finding& finding) { return finding.cause == "launch.hostname_collision"; };
    if (std::none_of(node.findings.begin(), node.findings.end(), has)) continue;
    for (Finding& finding : node.findings)
      if (finding.cause == "host.identity_mismatch") finding.primary = false;
  }
}

/// A stage puts the same programs on every node: what measured on the few that have others is not what measured on the rest.
void fold_programs(Fold& fold) {
  std::map<nlohmann::json, int> counts;
  const auto tells = [](const Exhibit& exhibit) { return exhibit.record.check == "stage.node" && opens_gate(exhibit.record.verdict); };
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (tells(exhibit)) ++counts[exhibit.digest];
  if (counts.size() < 2) return;
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const nlohmann::json most = std::max_element(counts.begin(), counts.end(), fewer)->first;
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (tells(exhibit) && exhibit.digest != most)
      fold.add(exhibit.nodes[0], Tier::stage, make_finding("launch.program_differs", {.host = exhibit.record.hosts[0]}, "agent and rank " + most.dump(), exhibit.digest.dump()));
}

/// A reading at the end holds the one from the start, which must be what the check of the start has found.
void bind_starts(Fold& fold) {
  std::map<std::tuple<std::string, int, std::string>, std::size_t> starts;
  for (const Exhibit& exhibit : fold.exhibits.records)
    if (exhibit.start != 0) starts.emplace(std::tuple(exhibit.record.check, exhibit.nodes[0], exhibit.record.rail), exhibit.start);
  for (const auto& [end, begin] : {std::pair("link.counters", "link.rail"), std::pair("link.rdma_counters", "link.rdma")})
    for (const Exhibit& exhibit : fold.exhibits.records) {
      if (exhibit.record.check != end || exhibit.start == 0 || !opens_gate(exhibit.record.verdict) || !fold.demanded(end)) continue;
      const auto start = starts.find({begin, exhibit.nodes[0], exhibit.record.rail});
      if (start == starts.end() || start->second == exhibit.start) continue;
      fold.add(exhibit.nodes[0], Tier::link, make_finding("gate.verdict_edited", {.host = exhibit.record.hosts[0], .rail = exhibit.record.rail},
                                                          std::string(end) + " begins with what " + begin + " found", "another reading"));
    }
}

}  // namespace

void fold_nodes(Fold& fold) {
  for (const Check& check : catalogue()) {
    if (!fold.demanded(check.id) || check.at_end) continue;
    if (about_one_node(check)) fold_check(fold, check);
    if (std::string_view(check.id) == "host.fleet") fold_fleet(fold);
  }
  if (fold.demanded("stage.node")) fold_programs(fold);
  demote_identity(fold);
  demote_rail_echoes(fold);
}

void fold_end(Fold& fold) {
  for (const Check& check : catalogue())
    if (check.at_end && fold.demanded(check.id)) fold_check(fold, check);
  bind_starts(fold);
}

}  // namespace fabricgate::suites
