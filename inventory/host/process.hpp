#pragma once
/// A process named for good: a pid alone is given out again.
#include <sys/types.h>

#include <string>

namespace fabricgate {

/// Field 22 of /proc/PID/stat: with the pid it names a process for good. "0" when there is none.
std::string start_ticks(pid_t pid);

/// This process in words that no other has: boot id, PID namespace, pid, start time. Empty where /proc does not say.
std::string process_mark();
/// True when `mark` is of this boot and PID namespace and its process has ended; false also where nobody can know.
bool is_gone(const std::string& mark);

/// Identity of this boot; empty where the kernel does not say.
std::string own_boot_id();
/// Name of this machine as the kernel says.
std::string own_host_name();

}  // namespace fabricgate
