#include "inventory/host/host.hpp"

namespace fabricgate {

Result<CommandResult> Host::run_until(const std::vector<std::string>& arguments, Deadline deadline,
                                      const std::string& input, const std::function<bool()>&) {
  return run(arguments, deadline, input);
}

Result<std::vector<InterfaceAddress>> Host::addresses() {
  return Error{ErrorKind::unavailable, "addresses: not a live machine", 0};
}

Result<std::int64_t> Host::free_bytes(const std::string& path) {
  return Error{ErrorKind::unavailable, "free space of " + path + ": not a live machine", 0};
}

Status Host::set_memlock(int pid, std::uint64_t) {
  return Error{ErrorKind::unavailable, "prlimit of process " + std::to_string(pid) + ": not a live machine", 0};
}

Result<std::vector<KernelMessage>> Host::kernel_log(std::uint64_t) {
  return Error{ErrorKind::unavailable, "kernel log: not a live machine", 0};
}

}  // namespace fabricgate
