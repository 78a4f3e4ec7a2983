#pragma once
/// The seam to one machine: files, folders and commands under a root folder and a deadline. The real one, captured trees
/// (a root folder with /sys and /proc inside) and a recording fake (fake_host.hpp) implement it.
#include <map>
#include <string>
#include <vector>

#include "results/deadline.hpp"
#include "results/result.hpp"

namespace fabricgate {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal when killed
  std::string out;
  std::string err;
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
  /// For files of /proc and /sys: one write, no rename.
  virtual Status write_in_place(const std::string& path, const std::string& content) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Runs without a shell; standard input is empty unless given. A timeout kills the process group.
  virtual Result<CommandResult> run(const std::vector<std::string>& arguments, Deadline deadline, const std::string& input = "") = 0;
};

}  // namespace fabricgate
