#pragma once
/// From what every rank saw to one sample. Pure.
#include <optional>
#include <string>
#include <vector>

#include "fabric/collective/collective_sample.hpp"
#include "fabric/collective/order.hpp"

namespace fabricgate::fabric {

/// Payload that a participant sent and received over one rail, by its own count.
struct RailBytes {
  std::uint64_t sent = 0, received = 0;
};

/// What one participant tells rank 0.
struct RankReport {
  std::vector<std::vector<double>> elapsed_s;  ///< by step, by iteration; the slowest rail
  std::uint64_t elements_checked = 0, elements_wrong = 0;
  std::string first_wrong;
  std::vector<RailBytes> moved;  ///< by rail
  std::string error;          ///< empty when it ran to its end
  std::int64_t progress = 0;  ///< transfers finished before the error
  std::string waited_for;     ///< the host whose transfer did not end, over this rail; empty: no error, or another
  std::string rail;
};

nlohmann::json to_json_value(const RankReport& report);
Result<RankReport> rank_report_from_json(const nlohmann::json& value);

/// The sample before anything ran: hosts, ranks, engine, rail.
CollectiveSample empty_sample(const CollectiveOrder& order);

/// `reports` by participant, nullopt for one that did not report: it is missing. The error shown is that of the rank
/// that got least far: the others waited for it or for its neighbour.
CollectiveSample summarise(const CollectiveOrder& order, const std::vector<std::optional<RankReport>>& reports);

}  // namespace fabricgate::fabric
