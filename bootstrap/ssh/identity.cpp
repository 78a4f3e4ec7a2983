#include "bootstrap/ssh/identity.hpp"

#include <cstdlib>

#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

bool agent_there() {
  const char* socket = std::getenv("SSH_AUTH_SOCK");
  return socket != nullptr && *socket != '\0';
}

/// libssh asks for a passphrase only when the key is encrypted; nobody is there to answer.
int note_question(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace

Result<Identity> load_identity(const Ssh& ssh) {
  if (ssh.key.empty()) {
    if (agent_there()) return Identity{nullptr, "the SSH agent"};
    return Error{
        ErrorKind::unavailable,
        "no way to log in: the inventory names no ssh.key and no SSH agent runs (SSH_AUTH_SOCK is not set); set "
        "ssh.key or start ssh-agent and ssh-add the key",
        0};
  }
  if (auto readable = check_readable(ssh.key); !readable) return readable.error().with("ssh.key of the inventory");
  bool encrypted = false;
  ssh_key key = nullptr;
  if (ssh_pki_import_privkey_file(ssh.key.c_str(), nullptr, note_question, &encrypted, &key) == SSH_OK)
    return Identity{SshKey(key), "key " + ssh.key};
  if (!encrypted)
    return Error{ErrorKind::parse,
                 "ssh.key " + ssh.key + ": not a private key libssh can read; expected OpenSSH or PEM", 0};
  if (agent_there()) return Identity{nullptr, "the SSH agent (" + ssh.key + " is encrypted)"};
  return Error{ErrorKind::denied,
               "ssh.key " + ssh.key + ": the key is encrypted and no SSH agent runs; start ssh-agent and `ssh-add " +
                   ssh.key + "`",
               0};
}

}  // namespace fabricgate::bootstrap
