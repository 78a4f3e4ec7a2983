#include "fabric/ucx/ucx_log.hpp"

#include <ucs/debug/log_def.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <utility>

#include "results/log.hpp"

namespace fabricgate::fabric {
namespace {

std::mutex message_mutex;
std::string last_message;

ucs_log_func_rc_t take_message(const char*, unsigned, const char*, ucs_log_level_t level,
                               const ucs_log_component_config_t*, const char* format, va_list arguments) {
  if (level > UCS_LOG_LEVEL_WARN) return UCS_LOG_FUNC_RC_CONTINUE;
  char text[512];
  va_list copy;
  va_copy(copy, arguments);
  (void)std::vsnprintf(text, sizeof text, format, copy);
  va_end(copy);
  if (level == UCS_LOG_LEVEL_FATAL) return UCS_LOG_FUNC_RC_CONTINUE;
  log::debug(std::string("ucx: ") + text);
  const std::lock_guard lock(message_mutex);
  last_message = text;
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

void route_ucx_log() {
  static std::once_flag once;
  std::call_once(once, [] { ucs_log_push_handler(take_message); });
}

std::string take_last_ucx_message() {
  const std::lock_guard lock(message_mutex);
  return std::exchange(last_message, {});
}

}  // namespace fabricgate::fabric
