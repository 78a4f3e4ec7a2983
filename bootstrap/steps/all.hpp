#pragma once
/// The steps by name, and what they share.
#include "bootstrap/steps/step.hpp"
#include "results/json_text.hpp"

namespace fabricgate::bootstrap {

extern const Step packages_step, driver_step, modules_step, kernel_cmdline_step, rdma_namespace_step, firmware_step,
    sysctl_step, memlock_step, sriov_step, network_step, roce_step, persist_step;

/// Every file a step writes starts with this line, so that a person knows who wrote it.
inline constexpr const char* file_header = "# written by fabricgate; changes are overwritten by the next stage\n";

/// "install -D -m 0644 /dev/stdin PATH <<'EOF'" with the content: what a person would type for a written file.
Action write_action(const std::string& path, const std::string& content, unsigned mode = 0644);

/// Writes a file after a look at the free space; a full disk adds stage.disk_full to the context's findings.
Status write_checked(StepContext& context, const std::string& path, const std::string& content, unsigned mode = 0644);

/// Runs a command that must end with 0; otherwise the Error holds its last lines, and findings get stage.disk_full when
/// the text says so.
Status run_checked(StepContext& context, const std::vector<std::string>& arguments, double limit_s = 60);

/// True when systemd has not read the unit's file yet.
bool systemd_needs_reload(StepContext& context, const std::string& unit);

/// The arguments as a person would type them in a shell.
std::string shell_line(const std::vector<std::string>& arguments);

/// A name that cannot leave its folder or be taken for an option; the kernel itself allows little more.
bool valid_netdev(const std::string& name);

/// Names become parts of paths and commands: an error names the rail whose interface has one that cannot be.
Status check_interface_names(const Desired& desired);

/// Interfaces no step may touch, each with the reason: they carry this SSH session, the default route or an address of
/// the management network, or lie below one that does, as the legs of a bond.
std::map<std::string, std::string> protected_interfaces(Host& host, const Desired& desired);

}  // namespace fabricgate::bootstrap
