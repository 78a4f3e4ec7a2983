#pragma once
/// The seam to one machine: files, folders and commands under a root folder and a deadline. The real one, captured
/// trees (a root folder with /sys and /proc inside) and a recording fake (fake_host.hpp) implement it.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inventory/host/kernel_log.hpp"
#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal when killed
  std::string out;
  std::string err;
};

/// One address of a network interface, IPv4 or IPv6, as text without the prefix.
struct InterfaceAddress {
  std::string netdev, address;
  int prefix = 0;

  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

class Host {
 public:
  virtual ~Host() = default;
  virtual Result<std::string> read(const std::string& path) = 0;
  /// Names in a folder, sorted, without . and ..
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// Target of a symbolic link as stored.
  virtual Result<std::string> read_link(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  /// Atomic replacement (write, fsync, rename); parent folders are made.
  virtual Status write(const std::string& path, const std::string& content, unsigned mode) = 0;
  /// For files of /proc and /sys: one write, no rename; the Error's `native` is what the driver behind the file said.
  virtual Status write_in_place(const std::string& path, const std::string& content) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Runs without a shell; standard input is empty unless given. A timeout kills the process group.
  virtual Result<CommandResult> run(const std::vector<std::string>& arguments, Deadline deadline,
                                    const std::string& input = "") = 0;

  /// The same for a command that reads on: its standard input stays open behind `input` until `stop` is true, for good,
  /// so that it hears of that. When it has not ended 1.5 s later it is left alone, and the error is a timeout. By
  /// default nothing hears of `stop`.
  virtual Result<CommandResult> run_until(const std::vector<std::string>& arguments, Deadline deadline,
                                          const std::string& input, const std::function<bool()>& stop);

  // What only a live machine can answer; captured trees say `unavailable`.

  /// Addresses of all interfaces in the caller's network namespace.
  virtual Result<std::vector<InterfaceAddress>> addresses();
  /// Bytes an unprivileged user may still write on the file system that holds `path` (or its nearest existing parent).
  virtual Result<std::int64_t> free_bytes(const std::string& path);
  /// Soft and hard RLIMIT_MEMLOCK of a running process; UINT64_MAX = unlimited.
  virtual Status set_memlock(int pid, std::uint64_t bytes);
  /// The kernel's messages that are still kept, from sequence number `from` on. Needs root.
  virtual Result<std::vector<KernelMessage>> kernel_log(std::uint64_t from);
};

}  // namespace fabricgate
