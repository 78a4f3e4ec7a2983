#include "bootstrap/ssh/scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "bootstrap/ssh/login.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {
namespace {

struct Look {
  std::size_t at;
  std::unique_ptr<Login> login;
};

KnownKey known_key(ssh_session session) {
  switch (ssh_session_is_known_server(session)) {
    case SSH_KNOWN_HOSTS_OK: return KnownKey::known;
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND: return KnownKey::unknown;
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER: return KnownKey::changed;
    default: return KnownKey::unreadable;
  }
}

void keep(ScannedKey& key, ssh_session session) {
  std::istringstream(host_key_text(session)) >> key.type >> key.fingerprint;
  key.known = known_key(session);
  char* raw = nullptr;
  if (ssh_session_export_known_hosts_entry(session, &raw) == SSH_OK) {
    const SshString line(raw);
    key.known_hosts_line = raw;
    while (!key.known_hosts_line.empty() && key.known_hosts_line.back() == '\n') key.known_hosts_line.pop_back();
  }
  if (key.known_hosts_line.empty())
    key.status = Error{ErrorKind::native, "host key of " + key.address + " cannot be written down", 0};
}

void fail(ScannedKey& key, const Inventory& inventory, const Error& error) {
  key.status = error;
  key.finding = make_finding("ssh.unreachable", {.host = inventory.nodes[key.node].name}, "a host key", error.what);
}

/// True when this look has ended.
bool advance(Look& look, ScannedKey& key, const Inventory& inventory, Deadline deadline) {
  const auto ended = look.login->advance();
  if (!ended && !deadline.passed()) return false;
  if (!ended)
    fail(key, inventory, {ErrorKind::timeout, "ssh " + key.address + ": no time left for this node", 0});
  else if (!*ended)
    fail(key, inventory, ended->error());
  else
    keep(key, look.login->session());
  return true;
}

/// A signal cuts the wait short, unless another thread took it.
void wait(const std::vector<Look>& looks, Deadline deadline) {
  std::vector<pollfd> polled;
  double sleep_s = std::min(0.2, deadline.left_s());
  for (const Look& look : looks) {
    polled.push_back(look.login->wants());
    sleep_s = std::min(sleep_s, polled.back().fd < 0 ? 0.02 : look.login->deadline().left_s());
  }
  ::poll(polled.data(), polled.size(), static_cast<int>(sleep_s * 1000) + 1);
}

/// Every node that has no answer: those looked at, and those from `next` on.
void give_up(std::vector<ScannedKey>& keys, const std::vector<Look>& looks, std::size_t next,
             const Inventory& inventory) {
  const auto leave = [&](std::size_t at) {
    keys[at].node = at;
    keys[at].address = inventory.nodes[at].address;
    keys[at].status = Error{ErrorKind::timeout, "ssh " + keys[at].address + ": interrupted", 0};
  };
  for (const Look& look : looks) leave(look.at);
  for (; next < keys.size(); ++next) leave(next);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// "host type" of a line, "" for comments and markers.
std::string host_and_type(const std::string& line) {
  std::istringstream in(line);
  std::string host, type;
  in >> host >> type;
  return host.empty() || host.front() == '#' || host.front() == '@' ? "" : host + " " + type;
}

}  // namespace

const char* to_string(KnownKey known) {
  switch (known) {
    case KnownKey::known: return "known";
    case KnownKey::unknown: return "new";
    case KnownKey::changed: return "CHANGED";
    default: return "known_hosts unreadable";
  }
}

std::vector<ScannedKey> scan_host_keys(const Inventory& inventory, Deadline deadline,
                                       const std::function<bool()>& stop) {
  std::vector<ScannedKey> keys(inventory.nodes.size());
  std::vector<Look> looks;
  const std::size_t limit =
      inventory.ssh.jump.empty() ? static_cast<std::size_t>(std::max(1, inventory.ssh.window)) : 8;
  for (std::size_t next = 0; next < keys.size() || !looks.empty();) {
    if (stop && stop()) {
      give_up(keys, looks, next, inventory);
      break;
    }
    while (next < keys.size() && looks.size() < limit) {
      keys[next].node = next;
      keys[next].address = inventory.nodes[next].address;
      looks.push_back({next, std::make_unique<Login>(inventory.ssh, nullptr, keys[next].address)});
      ++next;
    }
    std::erase_if(looks, [&](Look& look) { return advance(look, keys[look.at], inventory, deadline); });
    if (!looks.empty()) wait(looks, deadline);
  }
  return keys;
}

Result<int> add_known_hosts(const std::string& path, const std::vector<std::string>& lines) {
  auto text = read_file(path);
  if (!text && text.error().kind != ErrorKind::unavailable) return text.error();
  std::string content = text ? *text : "";
  if (!content.empty() && content.back() != '\n') content += '\n';
  std::vector<std::string> present = lines_of(content);
  int added = 0;
  for (const std::string& line : lines) {
    if (std::find(present.begin(), present.end(), line) != present.end()) continue;
    for (const std::string& other : present)
      if (!host_and_type(line).empty() && host_and_type(other) == host_and_type(line))
        return Error{ErrorKind::denied,
                     path + ": another key is recorded for " + host_and_type(line) +
                         "; verify the new one and replace that line by hand",
                     0};
    content += line + "\n";
    present.push_back(line);
    ++added;
  }
  if (added == 0) return 0;
  struct stat info {};
  const unsigned mode = ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777u : 0600u;
  if (auto status = write_file_atomic(path, content, mode); !status) return status.error();
  return added;
}

}  // namespace fabricgate::bootstrap
