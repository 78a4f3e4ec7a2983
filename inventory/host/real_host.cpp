#include "inventory/host/real_host.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "results/file.hpp"
#include "results/handle.hpp"

namespace fabricgate {
namespace {

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

Status make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return error_from_errno("mkdir " + folder, errno);
    if (slash == std::string::npos) return {};
  }
}

Error not_live(const std::string& what) {
  return {ErrorKind::unavailable, what + ": not available under a captured tree", 0};
}

}  // namespace

RealHost::RealHost(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

Result<std::string> RealHost::read(const std::string& path) {
  return read_file(at(path));
}

Result<std::vector<std::string>> RealHost::list(const std::string& path) {
  Handle<DIR, ::closedir> folder(::opendir(at(path).c_str()));
  if (!folder) return error_from_errno("open folder " + path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> RealHost::read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t n = ::readlink(at(path).c_str(), target.data(), target.size());
  if (n < 0) return error_from_errno("read link " + path, errno);
  target.resize(static_cast<std::size_t>(n));
  return target;
}

bool RealHost::exists(const std::string& path) {
  return ::access(at(path).c_str(), F_OK) == 0;
}

Status RealHost::write(const std::string& path, const std::string& content, unsigned mode) {
  if (auto made = make_folders(parent(at(path))); !made) return made;
  return write_file_atomic(at(path), content, mode);
}

Status RealHost::write_in_place(const std::string& path, const std::string& content) {
  const int fd = ::open(at(path).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return error_from_errno("open " + path, errno);
  const ssize_t n = ::write(fd, content.data(), content.size());
  const int code = n < 0 ? errno : 0;
  ::close(fd);
  if (code != 0) return error_from_errno("write " + path, code);
  if (static_cast<std::size_t>(n) != content.size()) return error_from_errno("write " + path + ", short", EIO);
  return {};
}

Status RealHost::remove(const std::string& path) {
  if (::unlink(at(path).c_str()) != 0 && errno != ENOENT) return error_from_errno("remove " + path, errno);
  return {};
}

Result<CommandResult> RealHost::run(const std::vector<std::string>& arguments, Deadline deadline,
                                    const std::string& input) {
  if (!live()) return not_live("run " + (arguments.empty() ? "nothing" : arguments.front()));
  return run_command(arguments, deadline, input);
}

Result<CommandResult> RealHost::run_until(const std::vector<std::string>& arguments, Deadline deadline,
                                          const std::string& input, const std::function<bool()>& stop) {
  if (!live()) return not_live("run " + (arguments.empty() ? "nothing" : arguments.front()));
  return run_command_until(arguments, deadline, input, stop);
}

Result<std::vector<InterfaceAddress>> RealHost::addresses() {
  if (!live()) return not_live("addresses");
  return netlink_addresses();
}

Result<std::int64_t> RealHost::free_bytes(const std::string& path) {
  std::string place = path;
  while (place != "/" && !exists(place)) place = parent(place);
  struct statvfs space {};
  if (::statvfs(at(place).c_str(), &space) != 0) return error_from_errno("statvfs " + place, errno);
  return static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
}

Status RealHost::set_memlock(int pid, std::uint64_t bytes) {
  if (!live()) return not_live("prlimit");
  const rlim64_t value = bytes == UINT64_MAX ? RLIM64_INFINITY : bytes;
  const rlimit64 limit{value, value};
  if (::prlimit64(pid, RLIMIT_MEMLOCK, &limit, nullptr) != 0)
    return error_from_errno("prlimit of process " + std::to_string(pid) + " (memlock)", errno);
  return {};
}

Result<std::vector<KernelMessage>> RealHost::kernel_log(std::uint64_t from) {
  if (!live()) return not_live("kernel log");
  return read_kernel_log(from);
}

}  // namespace fabricgate
