#include "launch/mpi/environment.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstdlib>
#include <sstream>

namespace fabricgate::launch {
namespace {

int number(const char* first, const char* second, int otherwise) {
  for (const char* name : {first, second})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
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

bool started_by_mpirun() { return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK"); }

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
