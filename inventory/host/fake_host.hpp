#pragma once
/// A machine in memory for tests: files, canned command results, and a record of every access.
#include <functional>
#include <map>
#include <optional>

#include "inventory/host/host.hpp"

namespace fabricgate {

class FakeHost : public Host {
 public:
  std::map<std::string, std::string> files;       ///< folders exist by the files in them; "/x/" is an empty one
  std::map<std::string, unsigned> modes;          ///< of files that were written
  std::map<std::string, std::string> links;       ///< symbolic links
  std::map<std::string, CommandResult> commands;  ///< by arguments joined with one space
  std::map<std::string, Error> errors;            ///< answer of an access, by its line in `accesses`
  std::vector<InterfaceAddress> interface_addresses;
  std::map<std::string, std::int64_t> space;  ///< free bytes by path; other paths have 1 TiB
  std::vector<std::string> accesses;          ///< "read /x", "list /x", "write /x", "run ip link", "memlock 12 64" …
  std::function<std::optional<CommandResult>(const std::vector<std::string>&)> on_run;  ///< asked before `commands`
  std::function<void(const std::string& path, const std::string& content)> on_write;    ///< after any write
  std::function<Status(const std::string& path, const std::string& content)> on_set;    ///< may refuse a write_in_place
  std::vector<KernelMessage> kernel_messages;
  int changes_left = -1;  ///< changes (write, remove, run_that_changes, memlock) that still work; -1: all

  /// Decides whether a command counts as a change for `changes_left`; by default none does.
  std::function<bool(const std::vector<std::string>&)> changing = [](const auto&) { return false; };

  Result<std::string> read(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  bool exists(const std::string& path) override;
  Status write(const std::string& path, const std::string& content, unsigned mode) override;
  Status write_in_place(const std::string& path, const std::string& content) override;
  Status remove(const std::string& path) override;
  Result<CommandResult> run(const std::vector<std::string>& arguments, Deadline deadline,
                            const std::string& input = "") override;
  Result<std::vector<InterfaceAddress>> addresses() override;
  Result<std::int64_t> free_bytes(const std::string& path) override;
  Status set_memlock(int pid, std::uint64_t bytes) override;
  Result<std::vector<KernelMessage>> kernel_log(std::uint64_t from) override;

  std::function<void(int pid, std::uint64_t bytes)> on_memlock;

  /// Accesses that start with `prefix`, e.g. "write ".
  std::vector<std::string> accesses_of(const std::string& prefix) const;

 private:
  Status note(const std::string& access);
  Status change(const std::string& access);
};

std::string join(const std::vector<std::string>& words);

}  // namespace fabricgate
