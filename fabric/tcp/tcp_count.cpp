#include "fabric/tcp/tcp_count.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>

#include "results/handle.hpp"

namespace fabricgate::fabric {
namespace {

void close_folder(DIR* folder) {
  ::closedir(folder);
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

bool has_address(int fd, NameOf name_of, const in_addr& wanted) {
  sockaddr_in name{};
  socklen_t length = sizeof name;
  if (name_of(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) return false;
  return name.sin_family == AF_INET && name.sin_addr.s_addr == wanted.s_addr;
}

void add_connection(int fd, TcpCount& count) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return;
  if (length < offsetof(tcp_info, tcpi_data_segs_out) + sizeof info.tcpi_data_segs_out) return;
  count.segments += info.tcpi_data_segs_out;
  count.retransmitted += info.tcpi_total_retrans;
}

}  // namespace

TcpCount count_tcp(const std::string& own_address, const std::string& peer_address) {
  TcpCount count;
  in_addr own{}, peer{};
  if (::inet_pton(AF_INET, own_address.c_str(), &own) != 1 || ::inet_pton(AF_INET, peer_address.c_str(), &peer) != 1)
    return count;
  const Handle<DIR, close_folder> folder(::opendir("/proc/self/fd"));
  if (!folder) return count;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::atoi(entry->d_name);
    if (has_address(fd, ::getsockname, own) && has_address(fd, ::getpeername, peer)) add_connection(fd, count);
  }
  return count;
}

}  // namespace fabricgate::fabric
