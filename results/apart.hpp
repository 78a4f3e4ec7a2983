#pragma once
/// A limit and a figure that misses it, as texts that do not contradict the verdict.
#include <string>
#include <utility>

namespace fabricgate {

/// `text(value, digits)` of both, with the fewest digits from `digits` at which they differ: "99%" and "98.6%" never as
/// "99%" and "99%". Equal values stay equal.
template <class Text>
std::pair<std::string, std::string> apart(double limit, double found, int digits, const Text& text) {
  constexpr int most = 15;
  while (digits < most && limit != found && text(limit, digits) == text(found, digits)) ++digits;
  return {text(limit, digits), text(found, digits)};
}

}  // namespace fabricgate
