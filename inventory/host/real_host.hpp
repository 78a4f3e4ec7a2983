#pragma once
/// This machine, or a captured tree of another one.
#include "inventory/host/host.hpp"

namespace fabricgate {

/// With root "/" everything works; with another root folder files are looked up below it, absolute symbolic links are
/// not followed out of it by us, and `run` and the live-only calls answer `unavailable`.
class RealHost : public Host {
 public:
  explicit RealHost(std::string root = "/");

  Result<std::string> read(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  bool exists(const std::string& path) override;
  Status write(const std::string& path, const std::string& content, unsigned mode) override;
  Status write_in_place(const std::string& path, const std::string& content) override;
  Status remove(const std::string& path) override;
  Result<CommandResult> run(const std::vector<std::string>& arguments, Deadline deadline,
                            const std::string& input = "") override;
  Result<CommandResult> run_until(const std::vector<std::string>& arguments, Deadline deadline,
                                  const std::string& input, const std::function<bool()>& stop) override;
  Result<std::vector<InterfaceAddress>> addresses() override;
  Result<std::int64_t> free_bytes(const std::string& path) override;
  Status set_memlock(int pid, std::uint64_t bytes) override;
  Result<std::vector<KernelMessage>> kernel_log(std::uint64_t from) override;

 private:
  std::string at(const std::string& path) const { return root_ + path; }
  bool live() const { return root_.empty(); }

  std::string root_;  ///< without the slash at its end: "" for the machine itself
};

/// Output kept of one command, per stream; what is beyond is read and dropped.
inline constexpr std::size_t command_output_limit = std::size_t{8} << 20;

/// RealHost::run. The command is looked for in PATH and then in the sbin folders, which a login without a shell lacks,
/// and sees LC_ALL=C. Errors: unavailable (no such program), timeout (the process group was killed), io.
Result<CommandResult> run_command(const std::vector<std::string>& arguments, Deadline deadline,
                                  const std::string& input);

/// RealHost::run_until.
Result<CommandResult> run_command_until(const std::vector<std::string>& arguments, Deadline deadline,
                                        const std::string& input, const std::function<bool()>& stop);

/// All addresses of this network namespace over rtnetlink, so that nodes without the `ip` tool can be read.
Result<std::vector<InterfaceAddress>> netlink_addresses();

}  // namespace fabricgate
