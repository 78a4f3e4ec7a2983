#include <fmt/format.h>

#include <set>

#include "suites/check.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

namespace {

bool declares_rdma(const Rail& rail) { return !rail.device.empty(); }
bool declares_leaf(const Rail& rail) { return !rail.leaf.empty(); }

}  // namespace

const std::vector<Check>& catalogue() {
  static const std::vector<Check> checks{
      {"stage.node", Tier::stage, Scope::node, false, judge_stage_node},
      {"host.facts", Tier::host, Scope::node, false, judge_host_facts},
      {"host.fleet", Tier::host, Scope::cluster, false, judge_host_fleet},
      {"link.rail", Tier::link, Scope::rail, false, judge_link_rail},
      {"link.rdma", Tier::link, Scope::rail, false, judge_link_rdma, false, declares_rdma},
      {"link.cabling", Tier::link, Scope::rail, true, judge_link_cabling, false, declares_leaf},
      {"link.counters", Tier::link, Scope::rail, false, judge_link_counters, true},
      {"link.rdma_counters", Tier::link, Scope::rail, false, judge_link_rdma_counters, true, declares_rdma},
      {"pair.reach", Tier::pair, Scope::pair, false, judge_pair_reach},
      {"pair.rail", Tier::pair, Scope::pair_rail, false, judge_pair_rail},
      {"pair.rdma", Tier::pair, Scope::pair_rail, false, judge_pair_rdma, false, declares_rdma},
      {"pair.overlay", Tier::pair, Scope::pair, false, judge_pair_overlay},
      {"collective.allreduce", Tier::collective, Scope::cluster, false, judge_collective},
  };
  return checks;
}

NodeIndex node_index(const Inventory& inventory) {
  NodeIndex index;
  for (std::size_t i = 0; i < inventory.nodes.size(); ++i) index.emplace(inventory.nodes[i].name, i);
  return index;
}

std::optional<std::size_t> JudgeContext::find(std::string_view name) const {
  if (index == nullptr) return inventory.find(name);
  const auto found = index->find(name);
  return found == index->end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

const Node* JudgeContext::node(std::string_view name) const {
  const auto place = find(name);
  return place ? &inventory.nodes[*place] : nullptr;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : catalogue())
    if (id == check.id) return &check;
  return nullptr;
}

namespace {

bool is_count(const std::string& key) {
  static const std::set<std::string> counts{"bytes",
                                            "messages",
                                            "iterations",
                                            "ranks",
                                            "payload_checked",
                                            "payload_errors",
                                            "sent_bytes",
                                            "received_bytes",
                                            "segments",
                                            "retransmitted",
                                            "latency_iterations",
                                            "concurrent_pairs",
                                            "numa_nodes",
                                            "elements_checked",
                                            "elements_wrong",
                                            "cpus",
                                            "memory_bytes",
                                            "memlock_soft_bytes",
                                            "memlock_hard_bytes"};
  return counts.count(key) != 0;
}

/// A negative count would be read as a very large one; beyond 1e15 is only a lock limit, where it means none.
bool is_absurd_count(const std::string& key, const nlohmann::json& value) {
  if (!value.is_number() || within(value.get<double>(), 0, 1e15)) return false;
  return is_count(key) && !(key.rfind("memlock_", 0) == 0 && within(value.get<double>(), 0, 0x1p64));
}

/// Path of the first number that cannot be, or empty. Nesting is bounded where records are read.
std::string absurd_number(const nlohmann::json& value) {
  if (value.is_number_float() && !within(value.get<double>(), -1e15, 1e15)) return "/";
  const auto below = [](const auto& key, const nlohmann::json& child) -> std::string {
    if (!child.is_structured() && !child.is_number_float()) return "";
    const std::string path = absurd_number(child);
    return path.empty() ? "" : fmt::format("/{}{}", key, path == "/" ? "" : path);
  };
  std::string path;
  if (value.is_array())
    for (std::size_t i = 0; path.empty() && i < value.size(); ++i) path = below(i, value[i]);
  if (value.is_object())
    for (auto member = value.begin(); path.empty() && member != value.end(); ++member) {
      path = is_absurd_count(member.key(), *member) ? "/" + member.key() : below(member.key(), *member);
    }
  return path;
}

}  // namespace

Judgement judge_sample(const JudgeContext& context, const Check& check, const Record& record) {
  if (!within(record.started_unix_s, 0, 1e11) || !within(record.elapsed_s, 0, 1e9))
    return unusable(record, "the record's time of start or duration cannot be");
  const std::string absurd = absurd_number(record.sample);
  return absurd.empty() ? check.judge(context, record) : unusable(record, "number at " + absurd + " cannot be");
}

Record judged(const JudgeContext& context, Record record) {
  const Check* check = find_check(record.check);
  Judgement judgement = check != nullptr ? judge_sample(context, *check, record) : unusable(record, "unknown check '" + record.check + "'");
  if (check != nullptr) record.tier = check->tier;
  record.verdict = judgement.verdict;
  record.reason = std::move(judgement.reason);
  record.findings = std::move(judgement.findings);
  return record;
}

}  // namespace fabricgate::suites
