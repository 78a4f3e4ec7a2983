#include "results/verdict.hpp"

#include <array>
#include <utility>

namespace fabricgate {
namespace {

constexpr std::array<std::pair<Verdict, const char*>, 7> names{{{Verdict::pass, "pass"},
                                                                {Verdict::warn, "warn"},
                                                                {Verdict::fail, "fail"},
                                                                {Verdict::blocked, "blocked"},
                                                                {Verdict::inconclusive, "inconclusive"},
                                                                {Verdict::skip, "skip"},
                                                                {Verdict::not_run, "not_run"}}};

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::skip: return 0;
    case Verdict::pass: return 1;
    case Verdict::warn: return 2;
    case Verdict::not_run: return 3;
    case Verdict::inconclusive: return 4;
    case Verdict::blocked: return 5;
    case Verdict::fail: return 6;
  }
  return 6;
}

}  // namespace

const char* to_string(Verdict verdict) {
  for (const auto& [value, name] : names)
    if (value == verdict) return name;
  return "inconclusive";
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  for (const auto& [value, name] : names)
    if (text == name) return value;
  return std::nullopt;
}

Verdict worse(Verdict a, Verdict b) { return severity(a) >= severity(b) ? a : b; }

ExitCode exit_code(Verdict verdict) {
  if (opens_gate(verdict)) return ExitCode::ready;
  if (verdict == Verdict::fail || verdict == Verdict::blocked) return ExitCode::not_ready;
  return ExitCode::inconclusive;
}

}  // namespace fabricgate
