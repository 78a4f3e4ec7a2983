#pragma once
/// The seven outcomes of a check, and how they fold.
#include <optional>
#include <string_view>

namespace fabricgate {

enum class Verdict {
  pass,          ///< measured, within limits
  warn,          ///< measured, within limits, worth a look
  fail,          ///< measured, below the limit or wrong
  blocked,       ///< an operator must act first (reboot, firmware reset, lock)
  inconclusive,  ///< evidence missing, contradictory or impossible
  skip,          ///< does not apply, with a reason, where the suite allows it
  not_run        ///< expected but never happened
};

const char* to_string(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view text);

/// The gate opens on pass and warn alone.
inline bool opens_gate(Verdict verdict) { return verdict == Verdict::pass || verdict == Verdict::warn; }

/// The worse of two: fail > blocked > inconclusive = not_run > warn > pass > skip.
Verdict worse(Verdict a, Verdict b);

enum class ExitCode { ready = 0, not_ready = 1, inconclusive = 2, usage = 64, bug = 70 };

/// Exit code of a folded verdict: pass, warn → 0; fail, blocked → 1; inconclusive, not_run, skip → 2.
ExitCode exit_code(Verdict verdict);

}  // namespace fabricgate
