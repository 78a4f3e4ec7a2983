#include "inventory/host/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace fabricgate {
namespace {

struct File {
  int fd;
  explicit File(const char* path) : fd(::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

}  // namespace

std::optional<KernelMessage> parse_kernel_record(std::string_view record) {
  const std::size_t comma = record.find(','), text = record.find(';');
  if (comma == std::string_view::npos || text == std::string_view::npos || comma > text) return std::nullopt;
  KernelMessage message;
  const std::string_view rest = record.substr(comma + 1);
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), message.sequence);
  if (code != std::errc() || (*end != ',' && *end != ';')) return std::nullopt;
  message.text = record.substr(text + 1, record.find('\n', text) - text - 1);
  return message;
}

Result<std::vector<KernelMessage>> read_kernel_log(std::uint64_t from) {
  const File file("/dev/kmsg");
  if (file.fd < 0) return error_from_errno("open /dev/kmsg", errno);
  std::vector<KernelMessage> out;
  std::array<char, 8192> record;  // the longest record there is
  for (;;) {
    const ssize_t n = ::read(file.fd, record.data(), record.size());
    if (n < 0 && (errno == EINTR || errno == EPIPE || errno == EINVAL)) continue;  // EPIPE: overwritten meanwhile
    if (n < 0 && errno == EAGAIN) return out;
    if (n < 0) return error_from_errno("read /dev/kmsg", errno);
    if (n == 0) return out;
    const auto message = parse_kernel_record({record.data(), static_cast<std::size_t>(n)});
    if (message && message->sequence >= from) out.push_back(*message);
  }
}

}  // namespace fabricgate
