#include <cstdlib>

#include "inventory/draft.hpp"
#include "inventory/forms.hpp"

namespace fabricgate {
namespace {

/// "~/x" under $HOME; other paths as they are.
void read_path(YamlReader& reader, const YamlNode& node, std::string_view key, std::string& out) {
  if (!reader.text(node, key, forms::local_path, out) || out[0] != '~') return;
  if (out.size() > 1 && out[1] != '/')
    return reader.problem(node.mark, std::string(key) + ": only '~/' is expanded, found " + describe(node));
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    return reader.problem(node.mark, std::string(key) + ": '~' needs $HOME, which is not set");
  out.replace(0, 1, home);
}

std::vector<Field> cluster_fields(YamlReader& r, InventoryDraft& d) {
  Inventory& i = d.inventory;
  return {{"name", [&](const YamlNode& n) { r.text(n, "name", forms::cluster_name, i.cluster); }, true},
          {"management_cidr",
           [&](const YamlNode& n) { d.management_known = read_network(r, n, "management_cidr", i.management); }, true},
          {"domain", [&](const YamlNode& n) { r.text(n, "domain", forms::domain, i.domain); }}};
}

std::vector<Field> ssh_fields(YamlReader& r, Ssh& ssh) {
  return {{"user", [&](const YamlNode& n) { r.text(n, "user", forms::user, ssh.user); }},
          {"port", [&](const YamlNode& n) { r.integer(n, "port", std::pair(1, 65535), ssh.port); }},
          {"key", [&](const YamlNode& n) { read_path(r, n, "key", ssh.key); }},
          {"known_hosts", [&](const YamlNode& n) { read_path(r, n, "known_hosts", ssh.known_hosts); }},
          {"jump", [&](const YamlNode& n) { r.text(n, "jump", forms::jump, ssh.jump); }},
          {"connect_timeout_s",
           [&](const YamlNode& n) { r.number(n, "connect_timeout_s", std::pair(0.1, 600.0), ssh.connect_timeout_s); }},
          {"window", [&](const YamlNode& n) { r.integer(n, "window", std::pair(1, 1024), ssh.window); }}};
}

std::vector<Field> launcher_fields(YamlReader& r, Launcher& launcher) {
  return {
      {"mpi_prefix", [&](const YamlNode& n) { r.text(n, "mpi_prefix", forms::remote_dir, launcher.mpi_prefix); }},
      {"ports", [&](const YamlNode& n) { r.text(n, "ports", forms::ports, launcher.ports); }},
      {"install_dir", [&](const YamlNode& n) { r.text(n, "install_dir", forms::remote_dir, launcher.install_dir); }},
      {"spool_dir", [&](const YamlNode& n) { r.text(n, "spool_dir", forms::remote_dir, launcher.spool_dir); }}};
}

std::vector<Field> kubernetes_fields(YamlReader& r, Kubernetes& k) {
  return {{"context", [&](const YamlNode& n) { r.text(n, "context", forms::context, k.context); }},
          {"operator_release",
           [&](const YamlNode& n) { r.text(n, "operator_release", forms::release, k.operator_release); }},
          {"namespace", [&](const YamlNode& n) { r.text(n, "namespace", forms::name_space, k.name_space); }},
          {"ipam", [&](const YamlNode& n) {
             const int word = r.word(n, "ipam", {"nv-ipam", "whereabouts"});
             if (word >= 0) k.ipam = word == 0 ? "nv-ipam" : "whereabouts";
           }}};
}

/// The stage clears and replaces what is in install_dir, ranks write into spool_dir: neither may reach into the other.
void check_folders(YamlReader& r, const YamlNode& node, const Launcher& launcher) {
  const std::string install = launcher.install_dir + '/', spool = launcher.spool_dir + '/';
  if (install.rfind(spool, 0) != 0 && spool.rfind(install, 0) != 0) return;
  const YamlNode* given = node.find("spool_dir") != nullptr ? node.find("spool_dir") : node.find("install_dir");
  r.problem(given != nullptr ? given->mark : node.mark, "launcher: install_dir " + launcher.install_dir +
                                                            " and spool_dir " + launcher.spool_dir +
                                                            " must be apart, neither inside the other");
}

/// What an address of the network is for, where hosts cannot have it; empty for a usable one. The management network
/// may be loopback or link-local: one machine, or one cable, is a cluster too.
std::string purpose(const Cidr& network, bool rail) {
  struct Range {
    const char *cidr, *purpose;
    bool of_rails_only;
  };
  constexpr Range ranges[] = {{"0.0.0.0/8", "no host's", false},
                              {"224.0.0.0/4", "multicast", false},
                              {"240.0.0.0/4", "reserved and broadcast", false},
                              {"127.0.0.0/8", "loopback, which never reaches a wire", true},
                              {"169.254.0.0/16", "link-local, which hosts give themselves", true}};
  for (const Range& range : ranges) {
    const Cidr taken = *parse_cidr(range.cidr);
    const bool overlap = taken.contains(network.address) || network.contains(taken.address);
    if (overlap && (rail || !range.of_rails_only)) return std::string(range.cidr) + " (" + range.purpose + ')';
  }
  return "";
}

}  // namespace

bool read_network(YamlReader& reader, const YamlNode& node, std::string_view key, Cidr& out) {
  const Form form{"an IPv4 network like 10.0.0.0/24", [](std::string_view text) { return bool(parse_cidr(text)); }};
  std::string text;
  if (!reader.text(node, key, form, text)) return false;
  const Cidr cidr = *parse_cidr(text);
  const std::string start = std::string(key) + ": ";
  if (cidr.prefix < 1 || cidr.prefix > 30) {
    reader.problem(node.mark, start + "expected a prefix from /1 to /30, found " + describe(node));
    return false;
  }
  const Cidr network{.address = cidr.address & cidr.mask(), .prefix = cidr.prefix};
  if (network.address != cidr.address) {
    reader.problem(node.mark, start + describe(node) + " is an address inside a network, did you mean '" +
                                  format_cidr(network) + "'?");
    return false;
  }
  if (const std::string taken = purpose(cidr, key == "cidr"); !taken.empty()) {
    reader.problem(node.mark,
                   start + describe(node) + " takes addresses of " + taken + "; choose a network that hosts can have");
    return false;
  }
  out = cidr;
  return true;
}

std::vector<Field> section_fields(YamlReader& r, InventoryDraft& d) {
  Inventory& i = d.inventory;
  return {{"cluster", [&](const YamlNode& n) { r.map(n, "cluster", cluster_fields(r, d)); }, true},
          {"ssh", [&](const YamlNode& n) { r.map(n, "ssh", ssh_fields(r, i.ssh)); }},
          {"launcher",
           [&](const YamlNode& n) {
             r.map(n, "launcher", launcher_fields(r, i.launcher));
             check_folders(r, n, i.launcher);
           }},
          {"suite", [&](const YamlNode& n) { r.text(n, "suite", forms::suite, i.suite); }},
          {"kubernetes",
           [&](const YamlNode& n) {
             i.kubernetes.emplace();
             r.map(n, "kubernetes", kubernetes_fields(r, *i.kubernetes));
           }},
          {"hooks", [&](const YamlNode& n) {
             r.map(n, "hooks", {{"busy", [&](const YamlNode& v) { r.text(v, "busy", forms::hook, i.hooks["busy"]); }},
                                {"drain", [&](const YamlNode& v) { r.text(v, "drain", forms::hook, i.hooks["drain"]); }}});
           }}};
}

}  // namespace fabricgate
