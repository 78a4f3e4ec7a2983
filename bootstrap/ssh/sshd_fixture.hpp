#pragma once
/// Tests only: real sshd's on loopback ports with their own host keys and one user key, all in a temporary folder.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/file.hpp"

namespace fabricgate::bootstrap {

inline void shell(const std::string& line) {
  ASSERT_EQ(std::system(line.c_str()), 0) << line;
}

/// A listening TCP socket on a free loopback port.
struct Listener {
  explicit Listener(int backlog = 16) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    socklen_t length = sizeof at;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length);
    port = ntohs(at.sin_port);
    if (backlog > 0) ::listen(fd, backlog);
  }
  ~Listener() { ::close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd = -1, port = 0;
};

class SshdTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to start sshd";
    if (::access("/usr/sbin/sshd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/sshd on this machine";
    char name[] = "/tmp/fabricgate-ssh-XXXXXX";
    folder = ::mkdtemp(name);
    std::filesystem::create_directories("/run/sshd");
    shell("cd " + folder +
          " && ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user && "
          "ssh-keygen -q -t ed25519 -N '' -f other && ssh-keygen -q -t ed25519 -N secret -f locked && cp user.pub "
          "authorized");
    start_sshd();
    inventory.ssh = {.user = "root",
                     .port = port,
                     .key = folder + "/user",
                     .known_hosts = folder + "/known_hosts",
                     .connect_timeout_s = 5,
                     .window = 64};
    inventory.nodes.resize(1);
    inventory.nodes[0].name = "alpha";
    inventory.nodes[0].address = "127.0.0.1";
    trust();
  }

  void TearDown() override {
    if (sshd > 0) {
      ::kill(sshd, SIGTERM);
      ::waitpid(sshd, nullptr, 0);
    }
    std::error_code ignored;  // a child of sshd may still write its log
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }

  void start_sshd() {
    port = Listener(0).port;
    const std::string config =
        "Port " + std::to_string(port) + "\nListenAddress 127.0.0.1\nHostKey " + folder +
        "/host\nPidFile none\nAuthorizedKeysFile " + folder +
        "/authorized\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
        "MaxStartups 200\nMaxSessions 20\nPrintMotd no\nAllowTcpForwarding yes\n";
    ASSERT_TRUE(write_file_atomic(folder + "/config", config));
    sshd = ::fork();
    if (sshd == 0) {
      ::execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-E", (folder + "/sshd.log").c_str(), "-f",
              (folder + "/config").c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ASSERT_TRUE(listening()) << "sshd did not start: " << *read_file(folder + "/sshd.log");
  }

  bool listening() const {
    for (int i = 0; i < 500; ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      at.sin_port = htons(static_cast<std::uint16_t>(port));
      const bool ok = ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
      ::close(fd);
      if (ok) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  /// Records the key of file `key`.pub for the port of the inventory.
  void trust(const std::string& key = "host") {
    shell("printf '[127.0.0.1]:" + std::to_string(inventory.ssh.port) + " ' > " + inventory.ssh.known_hosts +
          " && cut -d' ' -f1,2 " + folder + "/" + key + ".pub >> " + inventory.ssh.known_hosts);
  }

  std::string folder;
  pid_t sshd = -1;
  int port = 0;
  Inventory inventory;
};

}  // namespace fabricgate::bootstrap
