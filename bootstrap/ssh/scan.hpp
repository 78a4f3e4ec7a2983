#pragma once
/// Host keys as the nodes show them, for a person to compare; nothing is trusted by looking.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/deadline.hpp"
#include "results/finding.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

/// What the inventory's known_hosts says of a key, as OpenSSH reads that file (lists, patterns and hashed names too).
enum class KnownKey { known, unknown, changed, unreadable };
const char* to_string(KnownKey known);

struct ScannedKey {
  std::size_t node = 0;
  std::string address;
  std::string type;                               ///< ssh-ed25519
  std::string fingerprint;                        ///< SHA256:…
  std::string known_hosts_line;                   ///< "name,address type key" as OpenSSH writes it, without line end
  KnownKey known = KnownKey::unreadable;          ///< of the address, which is what a stage goes by
  KnownKey known_by_name = KnownKey::unreadable;  ///< of the node's name, which is what a person's ssh and mpirun go by
  Status status;
  std::optional<Finding> finding;  ///< ssh.unreachable
};

/// One key per node (the type both sides prefer), in inventory order. Nothing is written. When `stop` becomes true the
/// nodes that have not answered end with kind timeout, "interrupted", and no finding.
std::vector<ScannedKey> scan_host_keys(const Inventory& inventory, Deadline deadline,
                                       const std::function<bool()>& stop = {});

/// Adds the lines that are not in `path` yet, in one atomic replacement; makes the file (0600) and its folder (0700)
/// when there is none. Returns how many were added. A line with a host that is there with another key of the same type
/// is refused (kind denied): a changed key is replaced by a person, never by us. Hashed names and patterns are not
/// looked into: ask with lines of keys that known_hosts does not call changed.
Result<int> add_known_hosts(const std::string& path, const std::vector<std::string>& lines);

}  // namespace fabricgate::bootstrap
