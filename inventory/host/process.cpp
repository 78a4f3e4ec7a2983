#include "inventory/host/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "results/file.hpp"

namespace fabricgate {
namespace {

/// Fields of /proc/PID/stat from the third on, which is behind the name (that may hold anything).
std::string stat_fields(const std::string& pid) {
  const auto stat = read_file("/proc/" + pid + "/stat");
  return stat ? stat->substr(std::min(stat->rfind(')') + 2, stat->size())) : "";
}

std::string pid_namespace() {
  std::array<char, 64> name{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : "";
}

}  // namespace

std::string start_ticks(pid_t pid) {
  std::istringstream fields(stat_fields(std::to_string(pid)));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    if (!(fields >> field)) return "0";
  return field;
}

std::string process_mark() {
  const std::string boot = own_boot_id(), space = pid_namespace();
  if (boot.empty() || space.empty()) return "";
  return boot + " " + space + " " + std::to_string(::getpid()) + " " + start_ticks(::getpid());
}

bool is_gone(const std::string& mark) {
  std::istringstream words(mark);
  std::string boot, space, pid, ticks;
  if (!(words >> boot >> space >> pid >> ticks) || boot != own_boot_id() || space != pid_namespace()) return false;
  const std::string fields = stat_fields(pid);
  const bool ended = fields.empty() || fields.front() == 'Z' || fields.front() == 'X';
  return ended || start_ticks(std::atoi(pid.c_str())) != ticks;
}

std::string own_boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? text->substr(0, text->find('\n')) : "";
}

std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace fabricgate
