#include "launch/gate/ssh_config.hpp"

#include <fmt/format.h>

namespace fabricgate::launch {

std::string ssh_config(const Inventory& inventory) {
  const Ssh& ssh = inventory.ssh;
  std::string out = "# written by fabricgate for the mpirun jobs of this run\n";
  for (const Node& node : inventory.nodes) out += fmt::format("Host {}\n  HostName {}\n", node.name, node.address);
  out += fmt::format("Host *\n  User {}\n  Port {}\n  ConnectTimeout {}\n", ssh.user, ssh.port, std::max(1, static_cast<int>(ssh.connect_timeout_s)));
  if (!ssh.key.empty()) out += fmt::format("  IdentityFile \"{}\"\n  IdentitiesOnly yes\n", ssh.key);
  if (!ssh.known_hosts.empty()) out += fmt::format("  UserKnownHostsFile \"{}\"\n  GlobalKnownHostsFile /dev/null\n", ssh.known_hosts);
  if (!ssh.jump.empty()) out += fmt::format("  ProxyJump {}\n", ssh.jump);
  out +=
      "  BatchMode yes\n  StrictHostKeyChecking yes\n  UpdateHostKeys no\n  ControlPath none\n  ForwardAgent no\n  ForwardX11 no\n"
      "  LogLevel ERROR\n  ServerAliveInterval 5\n  ServerAliveCountMax 3\n";
  return out;
}

std::string hostfile(const std::vector<std::string>& hosts) {
  std::string out;
  for (const std::string& host : hosts) out += host + " slots=1\n";
  return out;
}

}  // namespace fabricgate::launch
