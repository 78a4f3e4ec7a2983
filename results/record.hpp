#pragma once
/// One measured check, one JSON line. Records are the truth of a run; tables, JUnit and summaries are made from them.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/finding.hpp"
#include "results/result.hpp"
#include "results/verdict.hpp"

namespace fabricgate {

/// Order of the tiers of a run. A node that fails a tier leaves the later ones.
enum class Tier { stage, addons, host, link, pair, collective, soak };
const char* to_string(Tier tier);
Result<Tier> parse_tier(std::string_view text);

constexpr int record_schema = 1;

/// What ties a record to its run: a record whose identity differs from the run's is no evidence.
struct RunIdentity {
  std::string run;        ///< unique id of the run
  std::string inventory;  ///< sha256 of the inventory's text
  std::string build;      ///< build id of the binary that measured (version + commit or content checksum)
  std::string suite;      ///< suite name

  friend bool operator==(const RunIdentity&, const RunIdentity&) = default;
};

/// `hosts` and `rail` are the subject: one host (scope node), host + rail (scope rail), two hosts sorted by inventory order
/// + rail (scope pair), every participating host (scope cluster).
struct Record {
  RunIdentity identity;
  std::string check;  ///< id of the check, e.g. pair.rail
  Tier tier = Tier::host;
  std::vector<std::string> hosts;
  std::string rail;  ///< rail name, empty when the check has none
  int attempt = 0;   ///< 0 the planned measurement; 1, 2 … repetitions of a suspect, see the sample for their kind
  Verdict verdict = Verdict::not_run;
  std::string reason;  ///< why, for skip, blocked, inconclusive and not_run
  std::vector<Finding> findings;
  nlohmann::json sample;        ///< SI units in the names; null when nothing was measured
  double started_unix_s = 0;    ///< seconds since the epoch
  double elapsed_s = 0;
};

/// One line without line end.
std::string to_line(const Record& record);
/// A key twice in any object of the line is an error that names it.
Result<Record> record_from_line(std::string_view line);

/// "pair.rail gpu001,gpu002 rail0": what the record is about, attempt left out.
std::string subject_key(const Record& record);

}  // namespace fabricgate
