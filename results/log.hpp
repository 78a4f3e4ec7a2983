#pragma once
/// The log: spdlog to standard error, kept behind two functions so that no header pays for it. Results go to stdout.
/// Levels by volume; messages are lower case and print the exact cause, not a guess.
#include <string_view>

namespace fabricgate::log {

enum class Level { debug, info, warn, error };

void set_level(Level level);
/// Put before each line, e.g. the host and rank of a launched process.
void set_prefix(std::string_view prefix);
void write(Level level, std::string_view message);

inline void debug(std::string_view message) { write(Level::debug, message); }
inline void info(std::string_view message) { write(Level::info, message); }
inline void warn(std::string_view message) { write(Level::warn, message); }
inline void error(std::string_view message) { write(Level::error, message); }

}  // namespace fabricgate::log
