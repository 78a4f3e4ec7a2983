#pragma once
/// TCP ports of launcher.ports for mpirun on the head, which listens on every one that it is given: a few that are free
/// now, so that several runs of one head share the range.
#include <functional>
#include <string>

#include "results/result.hpp"

namespace fabricgate::launch {

struct PortRange {
  int low = 0, high = 0;

  int count() const { return high - low + 1; }
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

/// "20000-20999"; an Error where it is no range.
Result<PortRange> parse_ports(const std::string& text);

/// The first third is for the launcher's own connections, the rest for messages of the ranks; of fewer than three ports
/// neither has any.
PortRange launcher_part(const PortRange& ports);

/// What of the launcher's part mpirun gets: the first free ones that stand together, all of the part where no so many
/// do. Error: not one is free.
Result<PortRange> choose_ports(const PortRange& ports, const std::function<bool(int)>& is_free);

/// Whether this machine could listen on it.
bool port_is_free(int port);

}  // namespace fabricgate::launch
