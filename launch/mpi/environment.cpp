#include "launch/mpi/environment.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

extern char** environ;

namespace fabricgate::launch {
namespace {

int number(const char* first, const char* second, int otherwise) {
  for (const char* name : {first, second})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}

/// The first PMIX_SERVER_URI<release>; all name the same server.
std::string pmix_server() {
  const std::string_view start = "PMIX_SERVER_URI";
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (text.substr(0, start.size()) == start && equals != std::string_view::npos) return std::string(text.substr(equals + 1));
  }
  return "";
}

/// "26476544.0;tcp4://127.0.0.1:32811" gives 32811; 0 for another kind of address, which nobody here can check.
int port_of(const std::string& uri) {
  if (uri.find(";tcp4://") == std::string::npos && uri.find(";tcp6://") == std::string::npos) return 0;
  return std::atoi(uri.c_str() + uri.rfind(':') + 1);
}

/// Looked up rather than connected to: the daemon should not hear of it. True where the kernel's tables cannot be read.
bool is_listened_to(int port) {
  constexpr const char* listening = "0A";
  bool readable = false;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    readable = readable || lines.good();
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      if (!(words >> number >> local >> remote >> state) || state != listening) continue;
      if (std::strtol(local.c_str() + local.rfind(':') + 1, nullptr, 16) == port) return true;
    }
  }
  return !readable;
}

int prefix_length(std::uint32_t mask) {
  int bits = 0;
  for (; mask & 0x80000000U; mask <<= 1) ++bits;
  return bits;
}

std::uint32_t ip_of(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

}  // namespace

Result<bool> started_by_mpirun() {
  if (!std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMIX_RANK")) return false;
  const std::string remedy = "; left over from an earlier mpirun? Unset the variables that begin with OMPI_, PMIX_ and PRTE_, or start under mpirun";
  const std::string uri = pmix_server();
  if (uri.empty())
    return Error{ErrorKind::unavailable, "the environment says that mpirun started this process (OMPI_COMM_WORLD_SIZE or PMIX_RANK is set), but names no PMIX_SERVER_URI" + remedy, 0};
  const int port = port_of(uri);
  if (port > 0 && !is_listened_to(port))
    return Error{ErrorKind::unavailable, "the environment says that mpirun started this process, but nobody listens at its PMIX_SERVER_URI " + uri + remedy, 0};
  return true;
}

LaunchPlace launch_place() {
  return {.rank = number("OMPI_COMM_WORLD_RANK", "PMIX_RANK", 0),
          .size = number("OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", 1),
          .local_rank = number("OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK", 0)};
}

std::map<std::string, std::string> mpi_parameters(const std::optional<Cidr>& management) {
  std::map<std::string, std::string> out{
      {"pml", "ob1"},
      {"coll", "^hcoll,ucc"},
      {"osc", "^ucx"},
      {"btl", "^openib,uct,ofi,usnic,smcuda"},
      {"mpi_yield_when_idle", "1"},
      // ranks of one node may sit in different user or PID namespaces, where copying from another process is refused
      {"btl_vader_single_copy_mechanism", "none"},
      {"smsc", "^cma,knem,xpmem"},
  };
  if (management) {
    out["btl_tcp_if_include"] = format_cidr(*management);
    out["oob_tcp_if_include"] = format_cidr(*management);
  }
  return out;
}

void set_mpi_environment(const std::optional<Cidr>& management) {
  for (const auto& [name, value] : mpi_parameters(management)) setenv(("OMPI_MCA_" + name).c_str(), value.c_str(), 1);
  // UCX's connect() blocks for minutes by default, past every deadline of ours, where SYNs are dropped. The environment is the
  // one place where UCX 1.13 takes this from.
  setenv("UCX_TCP_CONN_NB", "y", 1);
  if (!management) return;
  // include and exclude together are an error of Open MPI
  unsetenv("OMPI_MCA_btl_tcp_if_exclude");
  unsetenv("OMPI_MCA_oob_tcp_if_exclude");
}

std::vector<std::string> drop_mca_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : {"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_"})
      if (text.substr(0, prefix.size()) == prefix) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Cidr> management_from_ssh() {
  const char* connection = std::getenv("SSH_CONNECTION");
  if (!connection) return std::nullopt;
  std::istringstream words(connection);
  std::string client, client_port, server;
  if (!(words >> client >> client_port >> server)) return std::nullopt;
  const auto ip = parse_ipv4(server);
  ifaddrs* list = nullptr;
  if (!ip || getifaddrs(&list) != 0) return std::nullopt;
  std::optional<Cidr> found;
  for (const ifaddrs* i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || !i->ifa_netmask || i->ifa_addr->sa_family != AF_INET || ip_of(i->ifa_addr) != *ip) continue;
    const std::uint32_t mask = ip_of(i->ifa_netmask);
    found = Cidr{.address = *ip & mask, .prefix = prefix_length(mask)};
  }
  freeifaddrs(list);
  return found;
}

}  // namespace fabricgate::launch
