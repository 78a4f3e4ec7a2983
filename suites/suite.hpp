#pragma once
/// A suite says which checks must be there: suites/suites/*.yaml. What is expected of a run is inventory × suite.
#include <map>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "results/result.hpp"

namespace fabricgate::suites {

struct SuiteCheck {
  bool may_skip = false;  ///< a skip with a reason counts as evidence
};

struct Suite {
  std::string name;
  int full_coverage_nodes = 0;  ///< up to this many nodes READY needs every pair
  int minimum_partners = 0;     ///< above it every node needs this many measured partners on every rail
  std::map<std::string, SuiteCheck> checks;  ///< id → demand; a check that is not here is not demanded
  std::string checksum;                      ///< sha256 of the text
  std::vector<Tier> only;                    ///< tiers that checks were left out of, where they were: a pass is no READY

  const SuiteCheck* find(const std::string& id) const;
};

/// Strict: an unknown check, an unknown key or a suite without checks is an error (kind parse) with file:line:column.
Result<Suite> parse_suite(const std::string& text, const std::string& name);

/// Whether the suite that an inventory names is built in. Error: kind parse, naming those that are.
Status check_built_in(const std::string& name);

/// suites/suites/default.yaml as built in.
const std::string& default_suite_text();

}  // namespace fabricgate::suites
