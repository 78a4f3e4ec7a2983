#pragma once
/// What installers (mlnxofedinstall, DKMS) and the init script (openibd) of driver stacks print.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricgate {

/// Lines as a person sees them: without colours and cursor movements; a carriage return ends a line too.
std::vector<std::string> terminal_lines(std::string_view text);

/// Modules that openibd or modprobe could not load, or left out because they do not exist or belong to another kernel,
/// in the order they are named, each once. What the summary lines say of the whole is no evidence.
std::vector<std::string> failed_modules(std::string_view text);

/// "rdma_cm: in use by rpcrdma" for each module that rmmod could not take away.
std::vector<std::string> held_modules(std::string_view text);

/// The line that says that a module of the RDMA stack could not be built; DKMS builds other drivers' modules as well,
/// and these do not count. Empty: none.
std::string build_failure(std::string_view text);

/// Log files that the text points to, make.log of a DKMS build folder included, each once.
std::vector<std::string> named_logs(std::string_view text);

struct CompilerError {
  int line = 0;  ///< in the log, from 1
  std::string text;
};
/// The first error of a compiler or of modpost: later ones are often echoes.
std::optional<CompilerError> first_compiler_error(std::string_view log);

/// "24.10-1.1.4.0" of "MLNX_OFED_LINUX-24.10-1.1.4.0:", what `ofed_info -s` prints; empty for anything else, as for
/// DOCA's "OFED-internal-…".
std::string mlnx_ofed_release(std::string_view ofed_info);

}  // namespace fabricgate
