#include "bootstrap/ssh/scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
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

/// "[address]:2222 type key" → "[name]:2222,[address]:2222 type key"
std::string with_name(const std::string& line, const std::string& address, const std::string& name) {
  const std::size_t end = line.find(' ');
  std::string host = line.substr(0, end);
  const std::size_t at = host.find(address);
  if (name == address || end == std::string::npos || at == std::string::npos) return line;
  return host.replace(at, address.size(), name) + "," + line;
}

/// The session's last use: it goes by the name afterwards.
void keep(ScannedKey& key, const std::string& name, ssh_session session) {
  std::istringstream(host_key_text(session)) >> key.type >> key.fingerprint;
  key.known = known_key(session);
  char* raw = nullptr;
  if (ssh_session_export_known_hosts_entry(session, &raw) == SSH_OK) {
    const SshString line(raw);
    key.known_hosts_line = raw;
    while (!key.known_hosts_line.empty() && key.known_hosts_line.back() == '\n') key.known_hosts_line.pop_back();
  }
  key.known_hosts_line = with_name(key.known_hosts_line, key.address, name);
  if (ssh_options_set(session, SSH_OPTIONS_HOST, name.c_str()) == SSH_OK) key.known_by_name = known_key(session);
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
    keep(key, inventory.nodes[key.node].name, look.login->session());
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

struct Recorded {
  std::vector<std::string> hosts;
  std::string type, key;
};

/// No hosts for comments and markers.
Recorded recorded(const std::string& line) {
  Recorded out;
  std::istringstream in(line);
  std::string hosts;
  in >> hosts >> out.type >> out.key;
  if (hosts.empty() || hosts.front() == '#' || hosts.front() == '@') return {};
  std::istringstream names(hosts);
  for (std::string name; std::getline(names, name, ',');) out.hosts.push_back(name);
  return out;
}

/// "host type" that both lines have, with different keys; empty when there is none.
std::string contradiction(const std::string& line, const std::string& other) {
  const Recorded a = recorded(line), b = recorded(other);
  if (a.type != b.type || a.key == b.key) return "";
  for (const std::string& host : a.hosts)
    if (std::find(b.hosts.begin(), b.hosts.end(), host) != b.hosts.end()) return host + " " + a.type;
  return "";
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
      if (const std::string what = contradiction(line, other); !what.empty())
        return Error{ErrorKind::denied,
                     path + ": another key is recorded for " + what +
                         "; verify the new one and replace that line by hand",
                     0};
    content += line + "\n";
    present.push_back(line);
    ++added;
  }
  if (added == 0) return 0;
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  if (!folder.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return error_from_errno("mkdir " + folder, errno);
  struct stat info {};
  const unsigned mode = ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777u : 0600u;
  if (auto status = write_file_atomic(path, content, mode); !status) return status.error();
  return added;
}

}  // namespace fabricgate::bootstrap
