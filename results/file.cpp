#include "results/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace fabricgate {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { if (fd_ >= 0) ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_from_errno("write " + path, errno);
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// `path` is the file that is written, `shown` the one a message names.
Status write_and_sync(const std::string& path, const std::string& shown, std::string_view content, unsigned mode) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (file.get() < 0) return error_from_errno("write " + shown, errno);
  if (::fchmod(file.get(), mode) != 0) return error_from_errno("chmod " + shown, errno);
  if (auto status = write_all(file.get(), content, shown); !status) return status;
  if (::fsync(file.get()) != 0) return error_from_errno("fsync " + shown, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return error_from_errno("open " + path, errno);
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_from_errno("read " + path, errno);
    if (n == 0) return content;
    content.append(buffer, static_cast<std::size_t>(n));
  }
}

Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode) {
  const std::string temporary = path + ".fabricgate-" + std::to_string(::getpid());
  auto status = write_and_sync(temporary, path, content, mode);
  if (status && std::rename(temporary.c_str(), path.c_str()) != 0) status = error_from_errno("rename to " + path, errno);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
  return {};
}

Status append_line(const std::string& path, std::string_view line, bool durable) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) return error_from_errno("open " + path, errno);
  if (auto status = write_all(file.get(), std::string(line) + "\n", path); !status) return status;
  if (durable && ::fsync(file.get()) != 0) return error_from_errno("fsync " + path, errno);
  return {};
}

}  // namespace fabricgate
