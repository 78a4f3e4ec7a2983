#pragma once
/// What we log in with: a private key file, or the SSH agent. Read once per pass and shared by all sessions of the
/// thread.
#include <string>

#include "bootstrap/ssh/handles.hpp"
#include "inventory/inventory.hpp"
#include "results/result.hpp"

namespace fabricgate::bootstrap {

struct Identity {
  SshKey key;          ///< null: the agent is asked
  std::string source;  ///< "key /root/.ssh/id_ed25519" or "the SSH agent": for messages; never key material
};

/// An encrypted key is used through the agent when one is there; else the error says how to load it. Errors:
/// unavailable (no file, neither key nor agent), denied (encrypted, or not readable), parse (not a private key).
Result<Identity> load_identity(const Ssh& ssh);

}  // namespace fabricgate::bootstrap
