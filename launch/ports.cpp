#include "launch/ports.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace fabricgate::launch {
namespace {

/// One would do; some may be taken before mpirun has them.
constexpr int wanted = 16;

}  // namespace

Result<PortRange> parse_ports(const std::string& text) {
  PortRange ports;
  if (std::sscanf(text.c_str(), "%d-%d", &ports.low, &ports.high) == 2 && ports.low <= ports.high) return ports;
  return Error{ErrorKind::parse, "launcher.ports: '" + text + "' is no range", 0};
}

PortRange launcher_part(const PortRange& ports) {
  return {.low = ports.low, .high = ports.low + ports.count() / 3 - 1};
}

Result<PortRange> choose_ports(const PortRange& ports, const std::function<bool(int)>& is_free) {
  const PortRange part = launcher_part(ports);
  const int size = std::min(wanted, part.count());
  bool any = false;
  for (int port = part.low, run = 0; port <= part.high; ++port) {
    run = is_free(port) ? run + 1 : 0;
    any = any || run > 0;
    if (run == size) return PortRange{.low = port - size + 1, .high = port};
  }
  if (any || part.count() == 0) return part;
  return Error{
      ErrorKind::unavailable,
      fmt::format("the ports {}-{} of launcher.ports {}-{} are all in use on the head; wait for the other run here "
                  "to end, or give one of the inventories another range",
                  part.low, part.high, ports.low, ports.high),
      EADDRINUSE};
}

bool port_is_free(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;  // not known; mpirun will see
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // as mpirun does: connections that ended do not count
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(fd, 1) == 0;
  ::close(fd);
  return free;
}

}  // namespace fabricgate::launch
