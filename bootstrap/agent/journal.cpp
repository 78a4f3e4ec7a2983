#include <sys/stat.h>

#include <cerrno>

#include "bootstrap/agent/serve.hpp"
#include "results/clock.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace

Status Journal::open(Host& host) const {
  if (path_.empty()) return {};
  if (path_.front() != '/') return Error{ErrorKind::parse, "journal '" + path_ + "': expected an absolute path", 0};
  for (std::size_t slash = path_.find('/', 1); slash != std::string::npos; slash = path_.find('/', slash + 1)) {
    const std::string folder = path_.substr(0, slash);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return error_from_errno("mkdir " + folder, errno);
  }
  constexpr std::int64_t least_space = 64 << 10;
  if (auto space = host.free_bytes(path_); space && *space < least_space)
    return error_from_errno("journal " + path_, ENOSPC);
  return {};
}

Status Journal::started(const std::string& step, const std::vector<std::string>& commands) const {
  return write({{"step", step}, {"event", "started"}, {"plan", sha256_hex(joined(commands))}, {"commands", commands}});
}

Status Journal::finished(const StepReport& report) const {
  return write({{"step", report.id},
                {"event", "finished"},
                {"plan", sha256_hex(joined(report.commands))},
                {"state", to_string(report.state)},
                {"error", report.error}});
}

Status Journal::write(nlohmann::json entry) const {
  if (path_.empty()) return {};
  entry["run"] = run_;
  entry["unix_s"] = unix_now_s();
  auto status = append_line(path_, entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), true);
  return status ? status : Status(status.error().with("journal"));
}

}  // namespace fabricgate::bootstrap
