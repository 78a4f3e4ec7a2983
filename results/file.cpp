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

/// A FIFO that nobody writes must not hold the opening up.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO or pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Error too_large(const std::string& path, std::uint64_t bytes, std::size_t most) {
  return {ErrorKind::io,
          "read " + path + ": it has " + std::to_string(bytes) + " bytes, at most " + std::to_string(most) +
              " are expected; is it the file meant?",
          EFBIG};
}

/// What open(2) made of `path` is a regular file of at most `most` bytes; errno is that of open(2).
Status regular(int fd, const std::string& path, std::size_t most) {
  if (fd < 0 && errno == ENXIO)
    return Error{ErrorKind::io, "read " + path + ": it is a socket or a device, a regular file is needed", ENXIO};
  if (fd < 0) return error_from_errno("open " + path, errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return error_from_errno("stat " + path, errno);
  if (!S_ISREG(info.st_mode))
    return Error{ErrorKind::io,
                 "read " + path + ": it is " + kind_of(info.st_mode) +
                     ", a regular file is needed; write the text into one first",
                 S_ISDIR(info.st_mode) ? EISDIR : EINVAL};
  if (static_cast<std::uint64_t>(info.st_size) > most)
    return too_large(path, static_cast<std::uint64_t>(info.st_size), most);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), read_flags));
  if (auto fit = regular(file.get(), path, most); !fit) return fit.error();
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_from_errno("read " + path, errno);
    if (n == 0) return content;
    content.append(buffer, static_cast<std::size_t>(n));
    if (content.size() > most) return too_large(path, content.size(), most);
  }
}

Status check_readable(const std::string& path) {
  const Descriptor file(::open(path.c_str(), read_flags));
  return regular(file.get(), path, largest_file_bytes);
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
