#pragma once
/// Limits are data: suites/limits/*.yaml, each with unit and source. A unit that does not fit its metric is a load error.
#include <map>
#include <optional>
#include <string>

#include "inventory/inventory.hpp"
#include "results/result.hpp"

namespace fabricgate::suites {

struct Limit {
  std::optional<double> low, high;
  std::string unit;    ///< "1" (share), "s", "byte/s", "count", "1/s"
  std::string source;  ///< where the number is from
};

struct Limits {
  std::map<std::string, Limit> metrics;  ///< pair.bandwidth_share, pair.latency, collective.busbw_share, …
  std::string checksum;                  ///< sha256 of the text

  /// Null for an unknown metric: judged inconclusive, never passed.
  const Limit* find(const std::string& metric) const;
};

/// `platform` chooses the section over "default": "emulated" or a class name. A metric given there replaces the whole
/// metric of "default". An empty file, a file without limits, an unknown metric or a wrong unit is an error (kind parse).
Result<Limits> parse_limits(const std::string& text, const std::string& name, const std::string& platform);

/// "emulated" when any class is, else the name of the only class, else "default".
std::string platform_of(const Inventory& inventory);

/// suites/limits/default.yaml as built in.
const std::string& default_limits_text();

/// Metrics a limits file may name, with the unit each must have.
const std::map<std::string, std::string>& known_metrics();

}  // namespace fabricgate::suites
