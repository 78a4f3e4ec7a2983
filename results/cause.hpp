#pragma once
/// The catalogue of causes: every finding of the product carries the id of one row. The table is results/causes.tsv; an
/// id is never reused. Adding a cause is one line there.
#include <string>
#include <string_view>
#include <vector>

#include "results/verdict.hpp"

namespace fabricgate {

struct Cause {
  std::string id;       ///< family.name, e.g. link.width_degraded
  Verdict verdict;      ///< default verdict of a finding with this cause
  std::string action;   ///< none, monitor, reconfigure, reseat, reboot, drain, rma, retry, triage
  std::string title;    ///< one line
  std::string meaning;  ///< what is the case
  std::string remedy;   ///< what a person should do
};

/// All rows in file order.
const std::vector<Cause>& causes();

/// Null for an id that is not in the catalogue.
const Cause* find_cause(std::string_view id);

}  // namespace fabricgate
