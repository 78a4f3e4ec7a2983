#pragma once
/// A check is a value: what it is about, what it needs, how it is judged. One line in suites/catalogue.cpp registers it.
/// Probes live in fabric and inventory; launch runs them and hands the samples here. The gate calls the same judges again
/// on stored samples, so a verdict can never be better than its sample.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/finding.hpp"
#include "results/record.hpp"
#include "suites/limits.hpp"

namespace fabricgate::suites {

enum class Scope { node, rail, pair, pair_rail, cluster };

struct Judgement {
  Verdict verdict = Verdict::inconclusive;
  std::string reason;  ///< for inconclusive and skip
  std::vector<Finding> findings;
};

/// Node names to places in inventory.nodes; the views point into the inventory.
using NodeIndex = std::unordered_map<std::string_view, std::size_t>;
NodeIndex node_index(const Inventory& inventory);

struct JudgeContext {
  const Inventory& inventory;
  const Limits& limits;
  const NodeIndex* index = nullptr;  ///< makes find() fast; without it the nodes are searched

  std::optional<std::size_t> find(std::string_view name) const;
  /// Null for a name outside the inventory.
  const Node* node(std::string_view name) const;
};

struct Check {
  const char* id;    ///< host.facts, link.rail, link.rdma, pair.reach, pair.rail, pair.rdma, pair.overlay, collective.allreduce, stage.node …
  Tier tier;
  Scope scope;
  bool may_skip;     ///< the default suite allows a skip
  /// Pure. `record.sample` may be null or wrong in any way: that is inconclusive, never a crash or a pass.
  Judgement (*judge)(const JudgeContext& context, const Record& record);
  bool at_end = false;  ///< measured after the last tier although it belongs to an earlier one
  /// Of a check of rails: the rails it is demanded of, by their declaration alone (of a pair: at both ends); null: of every rail.
  bool (*applies)(const Rail& rail) = nullptr;
};

const std::vector<Check>& catalogue();
const Check* find_check(std::string_view id);

/// check.judge, behind one guard for all checks: a sample that holds a number no machine has (beyond 1e15 in size, unless
/// whole; a negative count), or a record of a time that cannot be, is inconclusive before anybody looks at it.
Judgement judge_sample(const JudgeContext& context, const Check& check, const Record& record);

/// The record with tier, verdict, reason and findings as its check judges its sample. A check outside the catalogue gives
/// inconclusive.
Record judged(const JudgeContext& context, Record record);

}  // namespace fabricgate::suites
