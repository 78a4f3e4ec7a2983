#pragma once
/// Pure readers of the text formats that facts come from: /proc, /etc and version outputs. They never fail: what is not
/// recognised is left out, and an empty value says so.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabricgate::readers {

std::string trim(std::string_view text);
std::vector<std::string> lines_of(std::string_view text);
std::vector<std::string> words_of(std::string_view text);
/// Decimal, or hexadecimal with 0x; nullopt when anything else is in the text.
std::optional<std::int64_t> to_integer(std::string_view text);

/// KEY=value and KEY="value" of os-release.
std::map<std::string, std::string> parse_os_release(std::string_view text);
/// MemTotal of /proc/meminfo in bytes, 0 when absent.
std::int64_t parse_memory_total(std::string_view meminfo);

struct MemlockLimits {
  std::uint64_t soft = 0, hard = 0;  ///< bytes, UINT64_MAX unlimited
};
/// "Max locked memory" of /proc/<pid>/limits.
std::optional<MemlockLimits> parse_memlock(std::string_view limits);

/// "0-3,8" → 5
int parse_cpu_count(std::string_view list);
/// First "model name" of /proc/cpuinfo.
std::string parse_cpu_model(std::string_view cpuinfo);
/// First column of /proc/modules.
std::vector<std::string> parse_modules(std::string_view text);
/// /proc/net/route in the words of `ip -4 route`: "default via 10.0.0.1 dev eth0", "10.0.0.0/24 dev eth0", metric when
/// set.
std::vector<std::string> parse_routes(std::string_view text);
/// "mountpoint server" for each network file system of /proc/<pid>/mountinfo.
std::vector<std::string> parse_network_mounts(std::string_view mountinfo);
/// Value of a variable in /proc/<pid>/environ.
std::string parse_environment(std::string_view environ, std::string_view name);
/// Parent process of /proc/<pid>/stat, 0 when unreadable.
int parse_parent(std::string_view stat);
/// The first word that looks like a version ("4.1.4", "v5.0.3rc1" without the v) after `marker`.
std::string parse_version_after(std::string_view text, std::string_view marker);
/// "0000:18:00.0"
bool is_pci_address(std::string_view text);
/// GT/s of "16.0 GT/s PCIe"; 0 for "Unknown" and the like.
double parse_link_speed(std::string_view text);

}  // namespace fabricgate::readers
