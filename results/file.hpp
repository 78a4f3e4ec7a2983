#pragma once
/// Files that are never half-written, and checksums.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "results/result.hpp"

namespace fabricgate {

/// More than a person writes: inventories, limits, suites, hostfiles.
inline constexpr std::size_t written_by_hand_bytes = std::size_t{16} << 20;
/// More than the records of any run or a program.
inline constexpr std::size_t largest_file_bytes = std::size_t{4} << 30;

/// Whole content of a regular file; kind unavailable when it does not exist. Anything else (a folder, a FIFO, a device)
/// is an error, since it may never end or never begin; so is a file of more than `most` bytes.
Result<std::string> read_file(const std::string& path, std::size_t most = largest_file_bytes);

/// The error that read_file would give for the path, without reading: for files that a library reads.
Status check_readable(const std::string& path);

/// Writes beside the target, fsyncs, renames, fsyncs the folder: the target holds the old or the new content, never a part.
/// On error the temporary file is removed and the target untouched.
Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode = 0644);

/// Appends one line (a line end is added) with a single write and, when `durable`, fsync.
Status append_line(const std::string& path, std::string_view line, bool durable);

/// Lower-case hexadecimal SHA-256 (FIPS 180-4).
std::string sha256_hex(std::string_view data);

}  // namespace fabricgate
