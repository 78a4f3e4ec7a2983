#include "bootstrap/ssh/descriptors.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace fabricgate::bootstrap {

std::uint64_t descriptors_for(std::size_t nodes) { return 256 + 8 * static_cast<std::uint64_t>(nodes); }

Status allow_descriptors(std::size_t nodes) {
  const std::uint64_t need = descriptors_for(nodes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return error_from_errno("getrlimit RLIMIT_NOFILE", errno);
  if (limit.rlim_cur >= need) return {};
  if (limit.rlim_max < need)
    return Error{ErrorKind::unavailable,
                 fmt::format("the limit of open files on this machine is {0} (RLIMIT_NOFILE, hard) and {1} are needed for {2} node{3}: "
                             "raise it (`ulimit -Hn {1}` as root, nofile in /etc/security/limits.conf, LimitNOFILE= of a systemd unit)",
                             limit.rlim_max, need, nodes, nodes == 1 ? "" : "s"),
                 0};
  limit.rlim_cur = need;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return error_from_errno(fmt::format("setrlimit RLIMIT_NOFILE {}", need), errno);
  return {};
}

Status allow_descriptors(const Ssh& ssh, std::size_t nodes) {
  return allow_descriptors(std::min(nodes, static_cast<std::size_t>(std::max(1, ssh.window))));
}

}  // namespace fabricgate::bootstrap
