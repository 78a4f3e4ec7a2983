#include "suites/check.hpp"
#include "suites/checks/judging.hpp"

namespace fabricgate::suites {

const std::vector<Check>& catalogue() {
  static const std::vector<Check> checks{
      {"stage.node", Tier::stage, Scope::node, false, judge_stage_node},
      {"host.facts", Tier::host, Scope::node, false, judge_host_facts},
      {"host.fleet", Tier::host, Scope::cluster, false, judge_host_fleet},
      {"link.rail", Tier::link, Scope::rail, false, judge_link_rail},
      {"link.counters", Tier::link, Scope::rail, false, judge_link_counters, true},
      {"pair.reach", Tier::pair, Scope::pair, false, judge_pair_reach},
      {"pair.rail", Tier::pair, Scope::pair_rail, false, judge_pair_rail},
      {"pair.overlay", Tier::pair, Scope::pair, false, judge_pair_overlay},
      {"collective.allreduce", Tier::collective, Scope::cluster, false, judge_collective},
  };
  return checks;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : catalogue())
    if (id == check.id) return &check;
  return nullptr;
}

Record judged(const JudgeContext& context, Record record) {
  const Check* check = find_check(record.check);
  Judgement judgement = check != nullptr ? check->judge(context, record) : unusable(record, "unknown check '" + record.check + "'");
  if (check != nullptr) record.tier = check->tier;
  record.verdict = judgement.verdict;
  record.reason = std::move(judgement.reason);
  record.findings = std::move(judgement.findings);
  return record;
}

}  // namespace fabricgate::suites
