#include "results/result.hpp"

#include <cerrno>
#include <cstring>

namespace fabricgate {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::denied: return "denied";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::io: return "io";
    case ErrorKind::parse: return "parse";
    case ErrorKind::native: return "native";
    case ErrorKind::bug: return "bug";
  }
  return "bug";
}

Error error_from_errno(const std::string& what, int code) {
  ErrorKind kind = ErrorKind::io;
  if (code == ENOENT || code == ENODEV || code == ENXIO) kind = ErrorKind::unavailable;
  if (code == EACCES || code == EPERM) kind = ErrorKind::denied;
  if (code == ETIMEDOUT) kind = ErrorKind::timeout;
  return {kind, what + ": " + std::strerror(code) + " (" + std::to_string(code) + ")", code};
}

}  // namespace fabricgate
