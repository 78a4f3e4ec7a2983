#pragma once
/// Files that are never half-written, and checksums.
#include <cstdint>
#include <string>
#include <string_view>

#include "results/result.hpp"

namespace fabricgate {

/// Whole content; kind unavailable when the file does not exist.
Result<std::string> read_file(const std::string& path);

/// Writes beside the target, fsyncs, renames, fsyncs the folder: the target holds the old or the new content, never a part.
/// On error the temporary file is removed and the target untouched.
Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode = 0644);

/// Appends one line (a line end is added) with a single write and, when `durable`, fsync.
Status append_line(const std::string& path, std::string_view line, bool durable);

/// Lower-case hexadecimal SHA-256 (FIPS 180-4).
std::string sha256_hex(std::string_view data);

}  // namespace fabricgate
