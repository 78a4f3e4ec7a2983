#pragma once
/// The wall clock, for what is written down; waiting is Deadline's business.
#include <array>
#include <chrono>
#include <ctime>
#include <string>

namespace fabricgate {

/// Seconds since the epoch.
inline double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// "2026-07-30 10:15:00 UTC"
inline std::string utc_text(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  std::array<char, 40> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "an unknown time";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

}  // namespace fabricgate
