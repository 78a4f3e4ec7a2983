#include "results/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace fabricgate::log {
namespace {

constexpr const char* pattern = "%Y-%m-%dT%H:%M:%S.%e %l ";

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("fabricgate", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern(std::string(pattern) + "%v");
    return made;
  }();
  return instance;
}

spdlog::level::level_enum native(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warn: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void set_level(Level level) { logger().set_level(native(level)); }

void set_prefix(std::string_view prefix) {
  std::string escaped;
  for (char c : prefix) escaped += c == '%' ? std::string("%%") : std::string(1, c);
  logger().set_pattern(pattern + escaped + ": %v");
}

void write(Level level, std::string_view message) {
  logger().log(native(level), spdlog::string_view_t(message.data(), message.size()));
  logger().flush();
}

}  // namespace fabricgate::log
